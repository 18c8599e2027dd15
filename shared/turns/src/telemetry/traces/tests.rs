use super::*;

const AWS: [(&str, &str); 3] =
    [("AWS_REGION", "us-east-1"), ("AWS_ACCESS_KEY_ID", "AKIA"), ("AWS_SECRET_ACCESS_KEY", "canary")];
const AMAZON: (&str, &str) = (ENDPOINT, "https://xray.eu-west-1.amazonaws.com");

fn read(pairs: &[(&str, &str)]) -> Result<Option<Arc<Exporter>>, String> {
    let settings = Settings::from_pairs(pairs.iter().copied());
    let http = platform::transport::build_client().unwrap();
    Traces::from_settings(&settings, &http, false).map(|traces| traces.0).map_err(|error| error.variable)
}

#[tokio::test]
async fn requests_to_amazon_are_signed_in_its_region() {
    let exact = (TRACES_ENDPOINT, "https://xray.eu-west-1.amazonaws.com/v1/traces");
    for pairs in [&[AMAZON][..], &[AMAZON, (HEADERS, "aws")], &[exact]] {
        let exporter = read(&[&AWS, pairs].concat()).unwrap().unwrap();
        assert_eq!(exporter.url, exact.1);
        let (signer, path) = (exporter.signer.as_ref().unwrap(), exporter.source.1);
        let call = Call { method: Method::POST, path, headers: &[], body: b"{}".to_vec() };
        let request = signer.signed_request(&exporter.http, call, SystemTime::UNIX_EPOCH).await.unwrap();
        let request = request.build().unwrap();
        assert_eq!(request.url().as_str(), exact.1);
        let authorization = request.headers()["authorization"].to_str().unwrap();
        let scope = "AWS4-HMAC-SHA256 Credential=AKIA/19700101/eu-west-1/xray/aws4_request, ";
        assert!(authorization.starts_with(scope), "{authorization}");
    }
}

#[test]
fn other_hosts_get_no_signature() {
    for url in [
        "https://cloud.langfuse.com/api/public/otel",
        "http://xray.eu-west-1.amazonaws.com",
        "https://xray.eu-west-1.amazonaws.com.example",
        "https://xray.eu-west-1.amazonaws.com:8443",
        "https://evil.example/xray.eu-west-1.amazonaws.com",
    ] {
        let exporter = read(&[&AWS[..], &[(ENDPOINT, url)]].concat()).unwrap().unwrap();
        assert!(exporter.signer.is_none(), "{url}");
        assert_eq!(exporter.url, format!("{url}/v1/traces"));
    }
    assert_eq!(region_of("https://xray.cn-north-1.amazonaws.com.cn/v1/traces"), Some("cn-north-1"));
    let collector = (ENDPOINT, "http://127.0.0.1:4318");
    assert_eq!(read(&[collector, (HEADERS, "aws")]).err().as_deref(), Some(HEADERS));
    assert_eq!(read(&[AMAZON]).err().as_deref(), Some("AWS_ACCESS_KEY_ID"));
    for unused in [(HEADERS, "a=b"), ("OTEL_EXPORTER_OTLP_HEADERS_PARAMETER", "/otlp"), (CAPTURE_CONTENT, "yes")] {
        let variable = unused.0.trim_end_matches("_PARAMETER");
        assert_eq!(read(&[&AWS[..], &[unused]].concat()).err().as_deref(), Some(variable), "it needs an endpoint");
    }
    assert!(read(&AWS).unwrap().is_none(), "without an endpoint there is nothing to send");
}

#[test]
fn headers_are_pairs_with_percent_encoded_values() {
    let pairs = |text: &str| {
        let owned = parse_headers(text, false)?;
        Some(owned.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join("\n"))
    };
    let basic = "authorization=Basic%20cGs6c2s=, x-team = a%2Cb,";
    assert_eq!(pairs(basic).as_deref(), Some("authorization: Basic cGs6c2s=\nx-team: a,b"));
    assert_eq!(pairs("authorization=Basic cGs6c2s=").as_deref(), Some("authorization: Basic cGs6c2s="));
    for other in ["canary", "=canary", "a b=canary", "a=%0d%0aCanary: 1", "a=é", "aws"] {
        assert_eq!(pairs(other), None, "{other}");
    }
    assert_eq!(parse_headers("aws", true), Some(Vec::new()));
}

#[test]
fn oldest_spans_are_dropped_beyond_the_limit() {
    let mut pending = Pending::default();
    for turn in ["a", "b", "c"] {
        pending.push(turn.repeat(MAX_PENDING_BYTES * 2 / 5));
    }
    assert_eq!((pending.turns.len(), pending.lost), (2, 1));
    let now = SystemTime::now();
    let turns = pending.take(now).unwrap();
    assert!(turns[0].starts_with('b') && pending.take(now).is_none() && pending.bytes == 0);
    pending.push("d".repeat(MAX_PENDING_BYTES * 2 / 5));
    assert_eq!(pending.record_failure(turns, true, now), 2, "with the one that was lost before");
    assert_eq!((pending.turns.len(), pending.bytes), (2, MAX_PENDING_BYTES * 2 / 5 * 2));
    assert!(pending.turns[0].starts_with('c') && pending.turns[1].starts_with('d'));
}

#[test]
fn spans_are_dropped_after_several_failures() {
    let (mut pending, mut now) = (Pending::default(), SystemTime::now());
    pending.push("a".to_owned());
    for attempt in 1..=MAX_ATTEMPTS {
        let turns = pending.take(now).unwrap();
        let lost = pending.record_failure(turns, true, now);
        assert_eq!(lost, usize::from(attempt == MAX_ATTEMPTS), "{attempt}");
        now += PAUSE;
    }
    pending.push("b".to_owned());
    assert_eq!(pending.take(now).unwrap(), ["b"]);
}

#[tokio::test(start_paused = true)]
async fn flush_returns_before_the_invocation_ends() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let exporter = read(&[(ENDPOINT, &url)]).unwrap().unwrap();
    lock(&exporter.pending).push("{}".to_owned());
    let (traces, end) = (Traces(Some(exporter.clone())), Instant::now() + Duration::from_secs(1));
    traces.flush(Some(Instant::now())).await;
    assert_eq!(lock(&exporter.pending).failures, 0, "nothing is sent without time for it");
    traces.flush(Some(end)).await;
    assert_eq!(Instant::now(), end - INVOCATION_MARGIN);
    let pending = lock(&exporter.pending);
    assert_eq!((pending.turns.len(), pending.failures), (1, 1), "they wait for the next invocation");
}

#[test]
fn rejected_spans_are_counted() {
    for (response, expected) in [
        (r#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"canary"}}"#, 3),
        (r#"{"partialSuccess":{"rejectedSpans":2}}"#, 2),
        (r#"{"partialSuccess":{}}"#, 0),
        ("{}", 0),
        ("", 0),
    ] {
        assert_eq!(rejected_spans(response.as_bytes()), expected, "{response}");
    }
}

#[test]
fn nothing_is_sent_shortly_after_a_failure() {
    let (mut pending, now) = (Pending::default(), SystemTime::now());
    pending.push("a".to_owned());
    let turns = pending.take(now).unwrap();
    assert_eq!(pending.record_failure(turns, true, now), 0, "they wait for the next attempt");
    assert_eq!(pending.take(now + PAUSE / 2), None);
    let turns = pending.take(now + PAUSE).unwrap();
    assert_eq!(turns, ["a"]);
    assert_eq!(pending.record_failure(turns, false, now), 1, "the collector rejected them");
    assert_eq!(pending.take(now + PAUSE), None);
}
