//! Models with `onlyFor`.

use super::*;
use crate::OnlyFor;

/// Builds a row of `MODELS` with `onlyFor` and `fallback`.
fn row(name: &str, only_for: &str, fallback: &str) -> String {
    let or_null = |text: &str| if text.is_empty() { "null".to_owned() } else { format!("\"{text}\"") };
    let (only_for, fallback) = (or_null(only_for), or_null(fallback));
    format!(r#"{{"name":"{name}","model":"m","baseUrl":"http://x","onlyFor":{only_for},"fallback":{fallback}}}"#)
}

fn only_for(name: &str) -> OnlyFor {
    OnlyFor::Caller(name.to_owned())
}

fn rows<const N: usize>(rows: [(&str, &str, &str); N]) -> String {
    format!("[{}]", rows.map(|(name, only_for, fallback)| row(name, only_for, fallback)).join(","))
}

#[test]
fn extra_models_have_the_same_format() {
    let row_of =
        |name: &str| format!(r#"[{{"name":"{name}","baseUrl":"https://x.example","model":"m","onlyFor":"ann"}}]"#);
    let both = |more: &str| read(&[("MODELS", &row_of("a")), ("EXTRA_MODELS", &row_of(more)), ("DEFAULT_MODEL", "")]);
    let models = both("b").unwrap();
    let names: Vec<_> = models.iter().map(|client| client.config().name.as_str()).collect();
    assert_eq!((names, models.get("b").unwrap().config().only_for.clone()), (vec!["a", "b"], Some(only_for("ann"))));
    assert_eq!(both("a").err().unwrap().variable, "EXTRA_MODELS");
    assert_eq!(read(&[("EXTRA_MODELS", "[1]")]).err().unwrap().variable, "EXTRA_MODELS");
    let invalid = rows([("b", "ann", "nobody")]);
    for (models, wrong) in [(row_of("a"), "EXTRA_MODELS"), (rows([("a", "ann", "nobody")]), "MODELS")] {
        let error = read(&[("MODELS", &models), ("EXTRA_MODELS", &invalid)]).err().unwrap();
        assert_eq!(error.variable, wrong);
    }
}

#[test]
fn model_for_one_caller_is_never_default() {
    let json = rows([("mine", " ada", ""), ("ours", "", "")]);
    assert_eq!(summary(&[("MODELS", &json)]).1.as_deref(), Some("ours"));
    let models = read(&[("MODELS", &json)]).unwrap();
    assert_eq!(models.get("mine").unwrap().config().only_for, Some(only_for(" ada")), "a name is kept as it is");
    assert_eq!(models.notes(), [""; 0]);
    let error = read(&[("MODELS", &json), ("DEFAULT_MODEL", "mine")]).err().unwrap();
    assert_eq!(
        error.to_string(),
        "DEFAULT_MODEL: expected the name of a configured model that is not for one caller alone"
    );
    let models = read(&[("MODELS", &rows([("mine", "ada", "")]))]).unwrap();
    assert!(models.default_model().is_none());
    let note = "each model is for one caller alone (\"onlyFor\"): there is no default, and other callers have no model";
    assert_eq!(models.notes(), [note]);
}

#[test]
fn fallback_for_one_caller_requires_same_caller() {
    let accepted = "the name of another configured model that is not for another caller alone";
    let error = |pairs: &[(&str, &str)]| read(pairs).err().map(|error| error.to_string());
    for refused in
        [rows([("ours", "", "mine"), ("mine", "ada", "")]), rows([("his", "bob", "mine"), ("mine", "ada", "")])]
    {
        assert_eq!(error(&[("MODELS", &refused)]), Some(format!("MODELS[0].fallback: expected {accepted}")));
    }
    let fine = rows([("mine", "ada", "second"), ("second", "ada", "ours"), ("ours", "", "")]);
    let models = read(&[("MODELS", &fine)]).unwrap();
    let chain: Vec<String> = models.chain("mine").iter().map(|client| client.config().name.clone()).collect();
    assert_eq!(chain, ["mine", "second", "ours"]);
    let options = ("MODEL_OPTIONS", r#"{"ours":{"fallback":"mine"}}"#);
    let expected = format!("MODEL_OPTIONS.ours.fallback: expected {accepted}");
    assert_eq!(error(&[("MODELS", &fine), options]), Some(expected));
}

#[test]
fn models_for_groups_may_be_defaults_and_fallbacks() {
    let row = |name: &str, more: &str| format!(r#"{{"name":"{name}","model":"m","baseUrl":"http://x"{more}}}"#);
    let rows = [row("legal", r#","onlyFor":["legal","研发","legal"],"fallback":"ours""#), row("ours", "")];
    let rows = format!("[{}]", rows.join(","));
    let options = ("MODEL_OPTIONS", r#"{"ours":{"fallback":"legal","onlyFor":["sales"]}}"#);
    let models = read(&[("MODELS", &rows), options, ("DEFAULT_MODEL", "legal")]).unwrap();
    let names = |name: &str| models.get(name).unwrap().config().only_for.as_ref().map(OnlyFor::names);
    assert_eq!([names("legal"), names("ours")], [Some("legal, 研发".to_owned()), Some("sales".to_owned())]);
    assert_eq!(models.default_model().unwrap().config().name, "legal");
    assert_eq!(read(&[("MODELS", &rows)]).unwrap().default_model().unwrap().config().name, "legal");
    let expected = "MODEL_OPTIONS.legal.onlyFor: expected names of groups, and nothing where the model's row gives one";
    for groups in [r#"["sales"]"#, "[]"] {
        let options = format!(r#"{{"legal":{{"onlyFor":{groups}}}}}"#);
        assert_eq!(read(&[("MODELS", &rows), ("MODEL_OPTIONS", &options)]).err().unwrap().to_string(), expected);
    }
}
