//! Hundreds of turns at once; `benches/crowd` runs thousands.

use support::{Crowd, TestApp};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f004_f019_f020_f021_hundreds_of_turns_at_once_end_whole_although_one_in_twenty_meets_a_fault() {
    let crowd = Crowd::start().await;
    let settings = crowd.settings();
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let app = TestApp::with(&settings).await;
    assert_eq!(crowd.run(&app, 0..400).await, 20);
}
