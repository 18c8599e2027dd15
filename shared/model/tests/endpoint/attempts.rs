use model::{Delta, Finish};

use crate::server::{Answer, Server, ask, later, question};

#[tokio::test(start_paused = true)]
async fn an_answer_is_streamed_to_its_finish() {
    let server = Server::start([Answer::hello()]).await;
    let (deltas, error) = ask(&server.client(&[("OPENAI_API_KEY", "k")]), &question(), later()).await;
    assert_eq!(deltas, [Delta::Text("hello".to_owned()), Delta::Finish(Finish::Stop)]);
    assert_eq!(error, None);
    let asked = server.asked();
    assert_eq!(asked[0].line, "POST /chat/completions");
    assert_eq!(asked[0].header("authorization"), Some("Bearer k"));
}
