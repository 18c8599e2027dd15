//! Hundreds of concurrent turns; `benches/load_spike` runs thousands.

use support::{LoadSpike, TestApp};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f004_f019_f020_f021_load_spike_with_faults_completes_every_answer() {
    let spike = LoadSpike::start().await;
    let settings = spike.settings();
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let app = TestApp::start_with(&settings).await;
    assert_eq!(spike.run(&app, 0..400).await, 20);
}
