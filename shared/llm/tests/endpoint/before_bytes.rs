//! Error responses and other responses without a reply.

use std::io;
use std::sync::{Arc, Mutex};

use llm::{AttemptLog, CallOptions, Delta, Finish, ModelError, TokenUsage};
use tokio::time::Instant;
use tracing_subscriber::fmt::MakeWriter;

use crate::server::{Answer, Server, Step, far_deadline, hello_prompt, read_reply};

/// Calls a server that always sends `answer`; returns the error and the number of requests.
async fn refused(answer: Answer) -> (Option<ModelError>, usize) {
    let server = Server::start([answer]).await;
    let (deltas, error) =
        read_reply(&server.client(&[("OPENAI_API_KEY", "key-canary")]), &hello_prompt(), far_deadline()).await;
    assert_eq!(deltas, []);
    (error, server.requests().len())
}

#[tokio::test(start_paused = true)]
async fn f003_exhausted_quota_is_not_retried() {
    for (status, body) in [
        (
            429,
            r#"{"error":{"message":"You exceeded","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
        ),
        (403, r#"{"error":{"code":"AccountOverdueError","message":"overdue","type":"Forbidden"}}"#),
        (429, r#"{"error":{"code":"QuotaExceeded","message":"used up","type":"TooManyRequests"}}"#),
        (402, r#"{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}"#),
        (402, r#"{"error":{"code":402,"message":"credits"}}"#),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}"#,
        ),
        (429, r#"{"error":{"code":"1113","message":"欠费"}}"#),
    ] {
        assert_eq!(refused(Answer::json(status, body)).await, (Some(ModelError::QuotaExhausted), 1), "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn f005_invalid_request_is_not_retried() {
    for (status, body) in [
        (400, r#"{"error":{"code":"InvalidParameter","message":"no"}}"#),
        (400, r#"{"error":{"code":"InvalidEndpoint.ClosedEndpoint","message":"closed"}}"#),
        (404, r#"{"error":{"code":"ModelNotOpen","message":"activate it"}}"#),
        (404, "not found"),
        (422, r#"{"detail":[{"loc":["body","x"],"msg":"Extra inputs are not permitted"}]}"#),
        (400, r#"{"error":{"message":"model does not support tools"}}"#),
        (405, ""),
    ] {
        assert_eq!(refused(Answer::json(status, body)).await, (Some(ModelError::Rejected), 1), "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn f006_filtered_content_is_not_retried() {
    for (status, body) in [
        (400, r#"{"error":{"code":"SensitiveContentDetected","message":"x"}}"#),
        (400, r#"{"error":{"code":"SensitiveContentDetected.Violence","message":"x"}}"#),
        (400, r#"{"error":{"code":"InputTextSensitiveContentDetected","message":"x"}}"#),
        (400, r#"{"error":{"code":"InputTextRiskDetection","message":"x"}}"#),
        (400, r#"{"error":{"code":"data_inspection_failed","message":"x"}}"#),
        (400, r#"{"error":{"message":"Content Exists Risk","type":"invalid_request_error"}}"#),
        (
            400,
            r#"{"error":{"code":"content_filter","message":"x","innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#,
        ),
    ] {
        assert_eq!(
            refused(Answer::json(status, body)).await,
            (Some(ModelError::ContentFiltered { category: None }), 1),
            "{body}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn f006_category_of_filtered_content_is_kept() {
    let results = r#"{"hate":{"filtered":false,"severity":"safe"},"sexual":{"filtered":true,"severity":"high"}}"#;
    for inner in ["innererror", "inner_error"] {
        let error = format!(r#"{{"code":"content_filter","{inner}":{{"content_filter_result":{results}}}}}"#);
        let filtered = ModelError::ContentFiltered { category: Some("sexual content") };
        let body = format!(r#"{{"error":{error}}}"#);
        assert_eq!(refused(Answer::json(400, &body)).await, (Some(filtered.clone()), 1));
        let stream =
            Answer::stream().data(r#"{"choices":[],"prompt_filter_results":[{"prompt_index":0}]}"#).data(&body);
        assert_eq!(refused(stream.done()).await, (Some(filtered), 1));
    }
}

#[tokio::test(start_paused = true)]
async fn aws_error_type_comes_from_its_header() {
    let answer = |status, kind: &str, body| {
        let kind = format!("{kind}:http://internal.amazon.com/coral/com.amazon.bedrock/");
        Answer::new(status, &[("content-type", "application/json"), ("x-amzn-errortype", &kind)], body)
    };
    let quota = answer(400, "ServiceQuotaExceededException", r#"{"message":"no"}"#);
    assert_eq!(refused(quota).await, (Some(ModelError::QuotaExhausted), 1));
    let tokens = r#"{"message":"Too many tokens, please wait before trying again."}"#;
    let limited = ModelError::RateLimited { retry_after: None };
    assert_eq!(refused(answer(429, "ThrottlingException", tokens)).await, (Some(limited), 3));
    let failed = answer(424, "ModelErrorException", r#"{"message":"no","originalStatusCode":500}"#);
    assert_eq!(refused(failed).await, (Some(ModelError::Unavailable), 3));
}

#[tokio::test(start_paused = true)]
async fn operator_reads_what_to_do_about_a_refusal() {
    let body = r#"{"message":"Invocation of model ID m with on-demand throughput isn\u2019t supported."}"#;
    let server = Server::start([Answer::json(400, body)]).await;
    let attempt_log = AttemptLog::default();
    let options = CallOptions { attempt_log: attempt_log.clone(), ..CallOptions::with_deadline(far_deadline()) };
    assert!(server.client(&[]).reply(&hello_prompt(), options).await.is_err());
    let help = attempt_log.records()[0].help.unwrap();
    assert!(help.contains("put us., eu., apac. or global. before its id"), "{help}");
}

#[tokio::test(start_paused = true)]
async fn f007_rejected_key_is_not_retried() {
    for status in [401, 403] {
        let body = r#"{"error":{"code":"AuthenticationError","message":"the key key-canary is wrong"}}"#;
        assert_eq!(refused(Answer::json(status, body)).await, (Some(ModelError::Auth), 1));
    }
}

#[tokio::test(start_paused = true)]
async fn f008_too_long_prompt_is_recognised() {
    for (status, body) in [
        (
            400,
            r#"{"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 8192"}}"#,
        ),
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 65536 tokens","code":"invalid_request_error"}}"#,
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"request (2009 tokens) exceeds the available context size (512 tokens)"}}"#,
        ),
        (400, r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 > 8"}}"#),
        (
            400,
            r#"{"error":{"code":"InvalidParameter","message":"Total tokens of image and text exceed max message tokens"}}"#,
        ),
        (400, r#"{"code":"InvalidParameter","message":"Range of input length should be [1, 98304]"}"#),
        (
            400,
            r#"[{"error":{"code":400,"message":"The input token count (9) exceeds the maximum number of tokens allowed"}}]"#,
        ),
        (413, "too large"),
    ] {
        assert_eq!(refused(Answer::json(status, body)).await, (Some(ModelError::ContextTooLong), 1), "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn f013_json_completion_is_a_complete_reply() {
    let body = r#"{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"whole","reasoning_content":"hm"},
        "finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}"#;
    let expected = vec![
        Delta::Thinking("hm".to_owned()),
        Delta::Text("whole".to_owned()),
        Delta::Usage(TokenUsage { input: 3, cached: 0, cache_writes: 0, output: 4 }),
        Delta::Finish(Finish::Stop),
    ];
    for headers in [&[][..], &[("content-type", "application/json; charset=utf-8")], &[("content-type", "text/plain")]]
    {
        let server = Server::start([Answer::new(200, headers, body)]).await;
        assert_eq!(read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await, (expected.clone(), None));
    }
}

#[tokio::test(start_paused = true)]
async fn f013_events_declared_as_json_are_decoded() {
    let answer = Answer::streaming("application/json").text("hello").finish("stop").done();
    let server = Server::start([answer]).await;
    let expected = vec![Delta::Text("hello".to_owned()), Delta::Finish(Finish::Stop)];
    assert_eq!(read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await, (expected, None));
}

#[tokio::test(start_paused = true)]
async fn f013_json_error_uses_its_status_and_html_fails() {
    let json = |body| Answer::json(200, body);
    let page = |kind| Answer::new(200, &[("content-type", kind)], "<!doctype html><title>Sign in</title>");
    for (answer, error, requests) in [
        (json(r#"{"error":{"code":401,"message":"x"}}"#), ModelError::Auth, 1),
        (json(r#"{"error":{"code":503,"message":"x"}}"#), ModelError::Unavailable, 3),
        (json(r#"{"error":{"code":"InternalServiceError","message":"x"}}"#), ModelError::Unavailable, 3),
        (json(r#"{"error":{"code":"RateLimitExceeded.X"}}"#), ModelError::RateLimited { retry_after: None }, 3),
        (json("{\"choices\":"), ModelError::BadResponse, 1),
        (page("text/html; charset=utf-8"), ModelError::BadResponse, 1),
        (page("text/event-stream"), ModelError::BadResponse, 1),
        (page("application/json"), ModelError::BadResponse, 1),
    ] {
        assert_eq!(refused(answer).await, (Some(error), requests));
    }
}

#[tokio::test(start_paused = true)]
async fn f014_redirect_is_not_followed() {
    let target = Server::start([Answer::hello()]).await;
    for status in [301, 302, 303, 307, 308] {
        let answer = Answer::new(status, &[("location", &target.root)], "");
        assert_eq!(refused(answer).await, (Some(ModelError::BadResponse), 1), "{status}");
    }
    assert!(target.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn f015_empty_response_is_retried() {
    for empty in [
        Answer::default().raw("HTTP/1.1 204 No Content\r\n\r\n"),
        Answer::new(200, &[("content-type", "text/event-stream")], ""),
        Answer::json(200, ""),
        Answer::stream().bytes(b"\r\n\r\n").end(),
    ] {
        assert_eq!(refused(empty).await, (Some(ModelError::BadResponse), 3));
    }
}

#[tokio::test(start_paused = true)]
async fn f016_error_body_is_read_up_to_64_kib() {
    let begun = Instant::now();
    let endless = Answer::default()
        .raw("HTTP/1.1 400 Bad\r\ncontent-length: 100000000\r\n\r\n")
        .raw("x".repeat(65 * 1024))
        .step(Step::Stall);
    assert_eq!(refused(endless).await, (Some(ModelError::Rejected), 1));
    assert!(begun.elapsed().is_zero());
}

#[tokio::test(start_paused = true)]
async fn f017_compressed_response_is_rejected() {
    let answer = Answer::new(200, &[("content-type", "text/event-stream"), ("content-encoding", "gzip")], "\x1f");
    assert_eq!(refused(answer).await, (Some(ModelError::BadResponse), 1));
}

/// Collects the log.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

#[tokio::test(start_paused = true)]
async fn f007_log_has_status_and_attempt_without_content() {
    // For the whole process, because a thread's own subscriber would miss callsites that another thread registered first.
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_writer(log.clone()).with_ansi(false).finish();
    tracing::subscriber::set_global_default(subscriber).unwrap();
    for (status, body) in [
        (503, r#"{"error":{"code":"ServerOverloaded","message":"body-canary key-canary http://canary.example"}}"#),
        (401, r#"{"error":{"code":"the key key-canary is wrong"}}"#),
    ] {
        let server = Server::start([Answer::json(status, body)]).await;
        let models =
            r#"[{"name":"logged","model":"m","baseUrl":"BASE","apiKeyVar":"KEY"}]"#.replace("BASE", &server.root);
        let client = server.client(&[("MODELS", &models), ("KEY", "key-canary"), ("DEFAULT_MODEL", "logged")]);
        let (_, error) = read_reply(&client, &hello_prompt(), far_deadline()).await;
        let error = error.unwrap();
        assert!(!format!("{error:?} {error}").contains("canary"));
    }
    let row = r#"[{"name":"unsigned","model":"m","baseUrl":"http://127.0.0.1:9","auth":"aws","region":"r"}]"#;
    let server = Server::start([]).await;
    let client = server.client(&[("MODELS", row), ("AWS_ACCESS_KEY_ID", "canary"), ("DEFAULT_MODEL", "unsigned")]);
    assert_eq!(read_reply(&client, &hello_prompt(), far_deadline()).await.1, Some(ModelError::Auth));
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let unsigned =
        log.lines().find(|line| line.contains("unsigned") && line.contains("AWS_SECRET_ACCESS_KEY")).unwrap();
    assert!(unsigned.contains("ERROR") && !unsigned.contains("canary"), "{unsigned}");
    let log: Vec<_> = log.lines().filter(|line| line.contains("model=logged")).collect();
    assert_eq!(log.len(), 4, "{log:?}");
    for (line, expected) in log.iter().zip([
        ["attempt=1", "status=503", "code=\"ServerOverloaded\""],
        ["attempt=2", "status=503", "code=\"ServerOverloaded\""],
        ["attempt=3", "status=503", "code=\"ServerOverloaded\""],
        ["attempt=1", "status=401", "error=not authorised"],
    ]) {
        assert!(expected.iter().all(|text| line.contains(text)), "{expected:?} in {line}");
        assert!(!line.contains("canary") && !line.contains("127.0.0.1"), "{line}");
    }
}
