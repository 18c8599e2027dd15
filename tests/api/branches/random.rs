//! Random changes of conversations by two users at two instances, compared with a model of what must be there.

use std::collections::HashMap;

use fuzz::Random;
use serde_json::{Value, json};
use support::{Client, Completion, Gate, Reply, TestApp};

use crate::auth::start_database;

/// The number of random sequences, each of [`STEPS`] changes; `BRANCH_SEQUENCES` sets another one.
const SEQUENCES: u64 = 4;
const STEPS: usize = 24;

#[derive(Clone)]
struct Message {
    id: String,
    parent: Option<String>,
    is_answer: bool,
    content: String,
    may_continue: bool,
}

/// What a conversation must hold.
#[derive(Default)]
struct Talk {
    id: Option<String>,
    /// In the order of their creation.
    messages: Vec<Message>,
    tip: Option<String>,
}

impl Talk {
    fn find(&self, id: &str) -> &Message {
        self.messages.iter().find(|one| one.id == id).unwrap()
    }

    fn path(&self, leaf: Option<&str>) -> Vec<&Message> {
        let (mut path, mut next) = (Vec::new(), leaf);
        while let Some(id) = next {
            path.insert(0, self.find(id));
            next = path[0].parent.as_deref();
        }
        path
    }

    fn is_below(&self, id: &str, root: &str) -> bool {
        self.path(Some(id)).iter().any(|one| one.id == root)
    }

    fn newest_below(&self, root: &str) -> String {
        self.messages.iter().rev().find(|one| self.is_below(&one.id, root)).unwrap().id.clone()
    }

    fn siblings(&self, one: &Message) -> Vec<&str> {
        self.messages.iter().filter(|other| other.parent == one.parent).map(|other| other.id.as_str()).collect()
    }

    /// The order of an import: each message before those that follow it, siblings by their creation.
    fn in_depth_first_order(&self) -> Vec<Message> {
        let children = |parent: Option<&str>| {
            self.messages.iter().filter(move |one| one.parent.as_deref() == parent).rev().cloned().collect::<Vec<_>>()
        };
        let (mut ordered, mut open) = (Vec::new(), children(None));
        while let Some(next) = open.pop() {
            open.extend(children(Some(&next.id)));
            ordered.push(next);
        }
        ordered
    }

    fn rows(&self, leaf: Option<&str>) -> Vec<Value> {
        let row = |one: &&Message| {
            let siblings = Some(self.siblings(one)).filter(|all| all.len() > 1);
            json!([one.id, one.parent, one.content, siblings])
        };
        self.path(leaf).iter().map(row).collect()
    }

    fn delete(&mut self, root: &str) {
        let siblings = self.siblings(self.find(root));
        let at = siblings.iter().position(|one| *one == root).unwrap();
        let nearest = at.checked_sub(1).map_or_else(|| siblings.get(1), |before| siblings.get(before));
        let leaf = nearest.map_or_else(|| self.find(root).parent.clone(), |one| Some(self.newest_below(one)));
        if self.tip.as_deref().is_some_and(|tip| self.is_below(tip, root)) {
            self.tip = leaf;
        }
        let kept = self.messages.iter().filter(|one| !self.is_below(&one.id, root)).cloned().collect();
        self.messages = kept;
    }
}

struct World {
    apps: [TestApp; 2],
    talks: [Talk; 2],
    random: Random,
    count: usize,
}

fn client(app: &TestApp, user: usize) -> Client {
    app.as_user(["ann", "bob"][user])
}

fn rows(page: &Value) -> Vec<Value> {
    let row = |one: &Value| json!([one["id"], one["parentId"], one["content"], one.get("siblings")]);
    page["messages"].as_array().unwrap().iter().map(row).collect()
}

impl World {
    fn text(&mut self, kind: &str) -> String {
        self.count += 1;
        format!("{kind}{:04}", self.count)
    }

    /// Runs a turn on the branch that ends with `leaf`, with a random ending; returns its answer.
    async fn run(&mut self, user: usize, path: &str, mut body: Value, leaf: Option<&str>) -> Message {
        let app = self.random.below(2);
        let (text, kind) = (self.text("a"), self.random.below(6));
        let (gate, client) = (Gate::new(), client(&self.apps[app], user));
        let reply = match kind {
            0 => Reply::status(401),
            1 => Completion::new().text(&text).wait(&gate).text("rest").end(),
            _ => Completion::of([&text]),
        };
        let before = self.apps[app].model.requests().len();
        self.apps[app].model.queue_replies([reply]);
        body["userId"] = ["ann", "bob"][user].into();
        let answer = client.post(path, &body);
        let stopping = async {
            if kind == 1 {
                gate.wait_until_reached().await;
                let id = match &self.talks[user].id {
                    Some(id) => id.clone(),
                    None => client.get("/api/conversations").await.ok()["conversations"][0]["id"]
                        .as_str()
                        .unwrap()
                        .to_owned(),
                };
                assert_eq!(client.post(&format!("/api/conversations/{id}/stop"), &json!({})).await.status, 202);
                gate.open();
            }
        };
        let (answer, ()) = tokio::join!(answer, stopping);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let events: Vec<Value> =
            answer.text().lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect();
        self.talks[user].id = Some(events[0]["conversationId"].as_str().unwrap().to_owned());
        let request = self.apps[app].model.requests()[before..].last().unwrap().dialogue();
        // A question whose answer was deleted is not sent with the next one.
        let sent = leaf.filter(|leaf| self.talks[user].find(leaf).is_answer || path.ends_with("/regenerate"));
        self.check_prompt(user, &request, leaf, sent);
        Message {
            id: events[0]["messageId"].as_str().unwrap().to_owned(),
            parent: None,
            is_answer: true,
            content: events.iter().filter_map(|event| event["content"].as_str()).collect(),
            may_continue: kind == 1,
        }
    }

    /// A prompt has the message `sent`, and no text of another branch or conversation.
    fn check_prompt(&self, user: usize, dialogue: &[(String, String)], leaf: Option<&str>, sent: Option<&str>) {
        let branch: Vec<&str> = self.talks[user].path(leaf).iter().map(|one| one.id.as_str()).collect();
        let all = self.talks.iter().flat_map(|talk| &talk.messages).filter(|one| !one.content.is_empty());
        for one in all {
            let is_sent = dialogue.iter().any(|(_, text)| text.contains(&one.content));
            let must_be_sent = sent == Some(one.id.as_str());
            let is_right = if branch.contains(&one.id.as_str()) { is_sent || !must_be_sent } else { !is_sent };
            assert!(is_right, "{} of {branch:?} in {dialogue:?}", one.content);
        }
    }

    async fn send(&mut self, user: usize) {
        let answers: Vec<String> =
            self.talks[user].messages.iter().filter(|one| one.is_answer).map(|one| one.id.clone()).collect();
        let (question, mut body) = (self.text("q"), json!({}));
        let mut parent = self.talks[user].tip.clone();
        if let Some(id) = &self.talks[user].id {
            body["conversationId"] = json!(id);
            if self.random.below(3) == 0 {
                parent = self.random.choose(&answers).cloned();
                body["parentId"] = json!(parent);
            }
        }
        body["message"] = json!(question);
        let answer = self.run(user, "/api/chat", body, parent.as_deref()).await;
        let (app, id) = (self.random.below(2), self.talks[user].id.clone().unwrap());
        let branch = format!("/api/conversations/{id}?branch={}", answer.id);
        let messages = client(&self.apps[app], user).get(&branch).await.ok()["messages"].as_array().unwrap().clone();
        let question_id = messages[messages.len() - 2]["id"].as_str().unwrap().to_owned();
        let talk = &mut self.talks[user];
        talk.tip = Some(answer.id.clone());
        talk.messages.push(Message {
            id: question_id.clone(),
            parent,
            is_answer: false,
            content: question,
            may_continue: false,
        });
        talk.messages.push(Message { parent: Some(question_id), ..answer });
    }

    async fn regenerate(&mut self, user: usize) {
        let talk = &self.talks[user];
        let ids: Vec<String> = talk.messages.iter().map(|one| one.id.clone()).collect();
        let (Some(tip), Some(id)) = (talk.tip.clone(), talk.id.clone()) else { return };
        let named = self.random.choose(&ids).cloned().filter(|_| self.count.is_multiple_of(2));
        let target = self.talks[user].find(named.as_ref().unwrap_or(&tip)).clone();
        let question = if target.is_answer { target.parent.unwrap() } else { target.id };
        let body = named.map_or_else(|| json!({}), |named| json!({ "messageId": named }));
        let answer = self.run(user, &format!("/api/conversations/{id}/regenerate"), body, Some(&question)).await;
        let talk = &mut self.talks[user];
        if !answer.content.is_empty() || tip == question {
            talk.tip = Some(answer.id.clone());
        }
        talk.messages.push(Message { parent: Some(question), ..answer });
    }

    async fn continue_answer(&mut self, user: usize) {
        let talk = &self.talks[user];
        let stopped: Vec<String> =
            talk.messages.iter().filter(|one| one.may_continue).map(|one| one.id.clone()).collect();
        let (Some(target), Some(id)) = (self.random.choose(&stopped).cloned(), talk.id.clone()) else { return };
        let body = json!({ "messageId": target });
        let more = self.run(user, &format!("/api/conversations/{id}/continue"), body, Some(&target)).await;
        let talk = &mut self.talks[user];
        assert_eq!(more.id, target);
        if !talk.tip.as_deref().is_some_and(|tip| talk.is_below(tip, &target)) {
            talk.tip = Some(talk.newest_below(&target));
        }
        let grown = talk.messages.iter_mut().find(|one| one.id == target).unwrap();
        grown.content.push_str(&more.content);
        grown.may_continue = more.may_continue;
    }

    async fn select_or_delete(&mut self, user: usize, deletes: bool) {
        let ids: Vec<String> = self.talks[user].messages.iter().map(|one| one.id.clone()).collect();
        let (Some(message), Some(id)) = (self.random.choose(&ids).cloned(), self.talks[user].id.clone()) else {
            return;
        };
        let client = client(&self.apps[self.random.below(2)], user);
        if deletes {
            let path = format!("/api/conversations/{id}/messages/{message}");
            assert_eq!(client.delete(&path).await.status, 204);
            assert_eq!(client.delete(&path).await.status, 404);
            self.talks[user].delete(&message);
        } else {
            let body = json!({ "messageId": message });
            client.put(&format!("/api/conversations/{id}/branch"), &body).await.ok();
            self.talks[user].tip = Some(self.talks[user].newest_below(&message));
        }
    }

    /// Exports the conversation, deletes it and continues with its import, in which a question without an answer has got one.
    async fn export_and_import(&mut self, user: usize) {
        let talk = &self.talks[user];
        let (Some(id), Some(tip)) = (talk.id.clone(), talk.tip.clone()) else { return };
        let [exporting, importing] = [0, 1].map(|_| client(&self.apps[self.random.below(2)], user));
        let path = format!("/api/conversations/{id}");
        let exported = exporting.get(&format!("{path}/export?format=json")).await.ok();
        let ids: Vec<String> = self.talks[user].messages.iter().map(|one| one.id.clone()).collect();
        let exported_ids = exported["messages"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap());
        assert!(exported_ids.eq(&ids), "{exported}");
        assert_eq!(exported["currentId"], tip);
        let answer = importing.post("/api/conversations/import", &exported).await;
        assert_eq!(exporting.delete(&path).await.status, 204);
        let id = answer.json()["imported"][0].as_str().unwrap().to_owned();
        let copy = exporting.get(&format!("/api/conversations/{id}/export?format=json")).await.ok();
        self.talks[user] = imported(&self.talks[user], &copy, id);
    }

    async fn check(&mut self, user: usize) {
        let Some(id) = self.talks[user].id.clone() else { return };
        let client = client(&self.apps[self.random.below(2)], user);
        let path = format!("/api/conversations/{id}");
        let (talk, shown) = (&self.talks[user], client.get(&path).await.ok());
        let expected = talk.rows(talk.tip.as_deref());
        assert_eq!(rows(&shown), expected);
        assert_eq!(shown["conversation"]["messageCount"], expected.len());
        let limit = self.random.below(3) + 1;
        let last = client.get(&format!("{path}?from=end&limit={limit}")).await.ok();
        assert_eq!(rows(&last), expected[expected.len().saturating_sub(limit)..]);
        let ids: Vec<String> = talk.messages.iter().map(|one| one.id.clone()).collect();
        if let Some(any) = self.random.choose(&ids) {
            let branch = client.get(&format!("{path}?branch={any}")).await.ok();
            assert_eq!(rows(&branch), talk.rows(Some(&talk.newest_below(any))));
        }
    }
}

/// What the import of a conversation must hold, with the ids that the export of the import has.
fn imported(talk: &Talk, copy: &Value, id: String) -> Talk {
    let mut messages = talk.in_depth_first_order();
    let is_answered = |question: &Message| talk.messages.iter().any(|one| one.parent.as_ref() == Some(&question.id));
    let questions: Vec<Message> = messages.iter().filter(|one| !one.is_answer && !is_answered(one)).cloned().collect();
    messages.extend(questions.into_iter().map(|question| Message {
        id: format!("answer of {}", question.id),
        parent: Some(question.id),
        is_answer: true,
        content: String::new(),
        may_continue: false,
    }));
    let copies = copy["messages"].as_array().unwrap();
    assert_eq!(copies.len(), messages.len(), "{copy}");
    let ids: HashMap<String, String> = messages
        .iter()
        .zip(copies)
        .map(|(one, copy)| (one.id.clone(), copy["id"].as_str().unwrap().to_owned()))
        .collect();
    let tip = talk.tip.as_ref().map(|tip| ids.get(&format!("answer of {tip}")).unwrap_or(&ids[tip]).clone());
    let renamed = |one: Message| Message {
        id: ids[&one.id].clone(),
        parent: one.parent.map(|parent| ids[&parent].clone()),
        may_continue: false,
        ..one
    };
    Talk { id: Some(id), messages: messages.into_iter().map(renamed).collect(), tip }
}

async fn run_sequence(seed: u64) {
    let database = start_database().await;
    let settings = [("AWS_ENDPOINT_URL_DYNAMODB", database.as_str())];
    let apps = [TestApp::start_with(&settings).await, TestApp::start_with(&settings).await];
    let mut world = World { apps, talks: Default::default(), random: Random::new(seed), count: 0 };
    for _ in 0..STEPS {
        let user = world.random.below(2);
        match world.random.below(13) {
            0..=3 => world.send(user).await,
            4 | 5 => world.regenerate(user).await,
            6 | 7 => world.select_or_delete(user, false).await,
            8 | 9 => world.select_or_delete(user, true).await,
            10 => world.continue_answer(user).await,
            11 => world.export_and_import(user).await,
            _ => {
                let app = world.random.below(2);
                world.apps[app].restart().await;
            }
        }
        world.check(user).await;
    }
}

#[tokio::test]
async fn random_changes_keep_every_branch() {
    let sequences = std::env::var("BRANCH_SEQUENCES").ok().and_then(|count| count.parse().ok()).unwrap_or(SEQUENCES);
    for seed in 0..sequences {
        eprintln!("seed {seed}");
        run_sequence(seed).await;
    }
}
