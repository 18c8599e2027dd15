use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aside::Aside;
use calls::{CallScanner, Defect, End, Malformed, ParsedCall, Part, Piece, ThinkingFilter};
use conversation::{Event, ToolCall, ToolSpec};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use model::{Delta, Finish, ModelError, NativeCall, Reply, TokenUsage, ToolPath};
use serde_json::Value;
use tokio::time::{Instant, sleep_until};
use tools::{Ran, ToolSession};
use tracing::Instrument;

use crate::failure::{Broken, heals};
use crate::seam::Seam;
use crate::{Caller, Events, Recording};

/// What reading one reply needs to know.
pub(crate) struct Reader<'a> {
    pub(crate) events: &'a Events,
    pub(crate) session: &'a ToolSession,
    /// What takes the turn down, if anything does.
    pub(crate) recording: Option<&'a dyn Recording>,
    /// Decides what counts as a call where the form alone is ambiguous.
    pub(crate) declared: &'a [ToolSpec],
    /// Who has tools of his own: calls of those do not run here.
    pub(crate) caller: Option<&'a Caller>,
    /// Whether calls run; otherwise they are neither run nor shown.
    pub(crate) tools_on: bool,
    /// When a reply with tools is given up that is no answer yet.
    pub(crate) closing: Closing,
    /// Where native calls are expected, calls in the text count only if none comes.
    pub(crate) path: ToolPath,
    /// Whether a call that cannot be read may go back to the model; otherwise its text is shown.
    pub(crate) may_correct: bool,
    /// What was said of this reply by a model that failed.
    pub(crate) said: &'a str,
    /// Whether another model can go on when this one fails.
    pub(crate) alternative: bool,
}

/// The end of the time in which a reply need not be an answer.
#[derive(Clone, Copy)]
pub(crate) struct Closing {
    pub(crate) at: Instant,
    /// Whether earlier rounds found something of which an answer can be made.
    pub(crate) informed: bool,
}

impl Reader<'_> {
    /// Whether the calls of a reply that breaks off are awaited, because another model goes on from their results.
    fn goes_on(&self, calls: &[Option<Ran>], error: &ModelError) -> bool {
        self.alternative && !calls.is_empty() && heals(error)
    }

    /// Shows what a running call says of itself.
    fn telling(&self, call: &ToolCall) -> impl Fn(String) + Sync {
        let (events, id, name) = (self.events, call.id.clone(), call.name.clone());
        move |text| events.send(Event::ToolProgress { id: id.clone(), name: name.clone(), text })
    }

    /// Whether another reply, without tools, is of more use than the rest of this one.
    fn gives_up(&self, calls: &[Option<Ran>]) -> bool {
        let is_answer = || !self.events.draft().open_round().0.trim().is_empty();
        !calls.is_empty() || (self.closing.informed && !is_answer())
    }

    fn report(&self, call: &ToolCall, ran: Result<Ran, anyhow::Error>) -> Result<Ran, Broken> {
        if let Some(recording) = self.recording {
            recording.ran(call, ran.as_ref().ok());
        }
        let ran = ran.map_err(Broken::Fatal)?;
        self.events.draft().weigh(&ran);
        self.events.send(Event::ToolResult(ran.report.clone()));
        Ok(ran)
    }
}

/// One reply, read to its end, with the results of its calls.
pub(crate) struct Round {
    /// In the order in which the model made them.
    pub(crate) calls: Vec<ToolCall>,
    /// One for each call, in the same order.
    pub(crate) results: Vec<Ran>,
    /// Calls of the caller's tools, which nobody was told of.
    pub(crate) callers: Vec<ToolCall>,
    /// A call that could not be used, and was not shown.
    pub(crate) malformed: Option<Malformed>,
    pub(crate) finish: Finish,
    pub(crate) usage: Option<TokenUsage>,
}

/// Reads a reply as it comes: text and thinking leave at once, and each call runs from the moment it is complete.
pub(crate) async fn read(reply: Reply, reader: &Reader<'_>) -> Result<Round, Broken> {
    let reading = Arc::new(Mutex::new(Reading::new(reader)));
    let mut running = FuturesUnordered::new();
    let mut results: Vec<Option<Ran>> = Vec::new();
    let read_on = |reply| {
        let words = words(reply, Arc::clone(&reading)).in_current_span();
        Box::pin(reader.events.inmost().run(words))
    };
    // Given up as soon as nothing more is wanted of it: that closes its connection.
    let (mut reply, mut broke) = (Some(read_on(reply)), None);
    let mut closing = Aside::new(Box::pin(sleep_until(reader.closing.at)));
    let (mut in_time, mut given_up) = (reader.tools_on, false);
    loop {
        tokio::select! {
            biased;
            Some((place, call, ran)) = running.next(), if !running.is_empty() => {
                results[place] = Some(reader.report(&call, ran)?);
            }
            Some(came) = next(&mut reply) => match came {
                Came::End(Some(error)) if !reader.goes_on(&results, &error) => return Err(Broken::Model(error)),
                Came::End(error) => (reply, broke) = (None, error),
                Came::Calls(rest, calls) => {
                    reply = Some(read_on(*rest));
                    for call in calls {
                        let place = results.len();
                        results.push(None);
                        running.push(async move {
                            let ran = reader.session.run_telling(&call, &reader.telling(&call)).await;
                            (place, call, ran)
                        });
                    }
                }
            },
            () = &mut closing, if reply.is_some() && in_time => {
                (in_time, given_up) = (false, lock(&reading).callers.is_empty() && reader.gives_up(&results));
                reply = reply.filter(|_| !given_up);
            }
            else => break,
        }
    }
    let results = results.into_iter().flatten().collect();
    let mut reading = lock(&reading);
    if given_up { Err(reading.given_up(results)) } else { reading.close(results, broke) }
}

/// What a reply was read up to.
enum Came {
    /// Calls, and the rest of the reply.
    Calls(Box<Reply>, Vec<ToolCall>),
    /// Its end, or what broke it off.
    End(Option<ModelError>),
}

/// Reads a reply up to the next calls, or to its end.
async fn words(mut reply: Reply, reading: Arc<Mutex<Reading>>) -> Came {
    loop {
        match reply.next().await {
            None => return Came::End(None),
            Some(Err(error)) => return Came::End(Some(error)),
            Some(Ok(delta)) => {
                let calls = lock(&reading).take(delta);
                if !calls.is_empty() {
                    return Came::Calls(Box::new(reply), calls);
                }
            }
        }
    }
}

/// What comes next of a reply that is still read.
async fn next(reply: &mut Option<Pin<Box<impl Future<Output = Came>>>>) -> Option<Came> {
    match reply {
        Some(reply) => Some(reply.await),
        None => None,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state of one reply.
struct Reading {
    events: Events,
    /// The names of the caller's tools.
    callers_tools: Vec<String>,
    tools_on: bool,
    path: ToolPath,
    may_correct: bool,
    alternative: bool,
    filter: Option<ThinkingFilter>,
    scanner: Option<CallScanner>,
    /// Empty between two deltas: so that none of them needs a list of its own.
    parts: Vec<Part>,
    pieces: Vec<Piece>,
    calls: Vec<ToolCall>,
    callers: Vec<ToolCall>,
    /// Calls in the text of a reply that may yet bring native ones, and text that failed to be one.
    held: Vec<ParsedCall>,
    residue: String,
    /// Whether there were native calls, of which the text may hold copies.
    called_natively: bool,
    seam: Seam,
    malformed: Option<Malformed>,
    finish: Option<Finish>,
    usage: Option<TokenUsage>,
}

impl Reading {
    fn new(reader: &Reader<'_>) -> Self {
        let callers_tools = reader.caller.iter().flat_map(|caller| &caller.tools).map(|tool| tool.name.clone());
        Self {
            events: reader.events.clone(),
            callers_tools: callers_tools.collect(),
            tools_on: reader.tools_on,
            path: reader.path,
            may_correct: reader.may_correct,
            alternative: reader.alternative,
            filter: Some(ThinkingFilter::default()),
            scanner: Some(CallScanner::new(reader.declared)),
            parts: Vec::new(),
            pieces: Vec::new(),
            calls: Vec::new(),
            callers: Vec::new(),
            held: Vec::new(),
            residue: String::new(),
            called_natively: false,
            seam: Seam::new(reader.said),
            malformed: None,
            finish: None,
            usage: None,
        }
    }

    /// Takes one delta and gives the calls that shall run now.
    fn take(&mut self, delta: Delta) -> Vec<ToolCall> {
        match delta {
            Delta::Text(text) => {
                let mut parts = std::mem::take(&mut self.parts);
                self.filter.iter_mut().for_each(|filter| filter.push_into(&text, &mut parts));
                let calls = self.parts(&mut parts);
                self.parts = parts;
                calls
            }
            Delta::Thinking(delta) => {
                self.events.send(Event::Thinking { delta });
                Vec::new()
            }
            Delta::Call(call) => self.native_call(call).into_iter().collect(),
            Delta::CutCall => {
                self.called_natively = true;
                self.malformed = Some(Malformed { raw: String::new(), defect: Defect::Cut });
                Vec::new()
            }
            Delta::Usage(usage) => {
                self.usage = Some(usage);
                Vec::new()
            }
            Delta::Finish(finish) => self.end(finish),
        }
    }

    fn parts(&mut self, parts: &mut Vec<Part>) -> Vec<ToolCall> {
        let mut calls = Vec::new();
        let mut pieces = std::mem::take(&mut self.pieces);
        for part in parts.drain(..) {
            match part {
                Part::Thinking(delta) => self.events.send(Event::Thinking { delta }),
                Part::Text(text) => {
                    self.scanner.iter_mut().for_each(|scanner| scanner.push_into(&text, &mut pieces));
                    calls.extend(self.pieces(&mut pieces));
                }
            }
        }
        self.pieces = pieces;
        calls
    }

    fn pieces(&mut self, pieces: &mut Vec<Piece>) -> Vec<ToolCall> {
        let mut calls = Vec::new();
        for piece in pieces.drain(..) {
            match piece {
                Piece::Text(text) => {
                    let delta = self.seam.push(text);
                    self.say(delta);
                }
                Piece::Call(parsed) if self.path == ToolPath::Native => self.held.push(parsed),
                Piece::Call(parsed) => calls.extend(self.accept(String::new(), parsed.name, parsed.arguments)),
                Piece::Malformed(malformed) => self.refuse(malformed),
            }
        }
        calls
    }

    /// The end of the text: what is still held becomes a call or text.
    fn end(&mut self, finish: Finish) -> Vec<ToolCall> {
        self.finish = Some(finish);
        let mut parts = self.filter.take().map(ThinkingFilter::finish).unwrap_or_default();
        let mut calls = self.parts(&mut parts);
        let end = if finish == Finish::Length { End::Cut } else { End::Complete };
        let mut pieces = self.scanner.take().map(|scanner| scanner.finish(end)).unwrap_or_default();
        calls.extend(self.pieces(&mut pieces));
        // A model with native calls may repeat them in its text: then the native ones hold and the text is residue.
        if !self.called_natively {
            for parsed in std::mem::take(&mut self.held) {
                calls.extend(self.accept(String::new(), parsed.name, parsed.arguments));
            }
            let residue = std::mem::take(&mut self.residue);
            self.show(residue);
        }
        self.say_held();
        calls
    }

    fn native_call(&mut self, call: NativeCall) -> Option<ToolCall> {
        self.called_natively = true;
        let text = if call.arguments.trim().is_empty() { "{}" } else { call.arguments.as_str() };
        // Arguments that cannot be read stay a string, which no tool accepts: the model is told so.
        let arguments = calls::repair(text).unwrap_or_else(|| Value::String(call.arguments.clone()));
        self.accept(call.id, call.name, arguments)
    }

    fn accept(&mut self, id: String, name: String, arguments: Value) -> Option<ToolCall> {
        if !self.tools_on {
            return None;
        }
        self.say_held();
        if self.callers_tools.contains(&name) {
            self.callers.push(ToolCall { id, name, arguments });
            return None;
        }
        let id = self.own_id(id);
        let call = ToolCall { id, name, arguments };
        self.calls.push(call.clone());
        self.events.send(Event::ToolCall(call.clone()));
        Some(call)
    }

    /// The id if it is new in this turn, else one that is.
    fn own_id(&self, id: String) -> String {
        let draft = self.events.draft();
        let is_new = |id: &String| !id.is_empty() && !draft.calls.iter().any(|record| record.call.id == *id);
        let numbered = (draft.calls.len() + 1..).map(|number| format!("call_{number}"));
        std::iter::once(id).chain(numbered).find(is_new).unwrap_or_default()
    }

    fn refuse(&mut self, malformed: Malformed) {
        match &malformed.defect {
            Defect::Cut => self.malformed = Some(malformed),
            Defect::Unreadable(_) if self.may_correct && self.malformed.is_none() => {
                self.malformed = Some(malformed);
            }
            Defect::Unreadable(_) if self.path == ToolPath::Native => self.residue.push_str(&malformed.raw),
            Defect::Unreadable(_) => self.show(malformed.raw),
        }
    }

    /// Shows what should have been a call and cannot be read.
    fn show(&mut self, raw: String) {
        if !raw.is_empty() {
            tracing::warn!(characters = raw.chars().count(), "a call could not be read and is shown as text");
            let delta = self.seam.push(raw);
            self.say(delta);
        }
    }

    /// Says what might have been a repetition of what was said before.
    fn say_held(&mut self) {
        let delta = self.seam.finish();
        self.say(delta);
    }

    fn say(&self, delta: String) {
        if !delta.is_empty() {
            self.events.send(Event::Text { delta });
        }
    }

    /// What there is of a reply that was not read to its end.
    fn given_up(&mut self, results: Vec<Ran>) -> Broken {
        let round = Round { finish: Finish::Stop, usage: None, ..self.round(results) };
        Broken::Late((!round.calls.is_empty()).then(|| Box::new(round)))
    }

    fn close(&mut self, results: Vec<Ran>, broke: Option<ModelError>) -> Result<Round, Broken> {
        // The wire promises a finish or an error; a reply without either was cut.
        let broke = broke.or(self.finish.is_none().then_some(ModelError::Disconnected));
        let round = self.round(results);
        match broke {
            None => Ok(round),
            // What was counted before the end is not the whole.
            Some(error) if self.alternative && !round.calls.is_empty() => {
                Err(Broken::Called(Box::new(Round { usage: None, ..round }), error))
            }
            Some(error) => Err(Broken::Model(error)),
        }
    }

    /// What there is, which is given out once.
    fn round(&mut self, results: Vec<Ran>) -> Round {
        Round {
            calls: std::mem::take(&mut self.calls),
            results,
            callers: std::mem::take(&mut self.callers),
            malformed: self.malformed.take(),
            finish: self.finish.unwrap_or(Finish::Stop),
            usage: self.usage.take(),
        }
    }
}
