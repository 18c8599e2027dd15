use std::path::Path;

use documents::{DocumentRoot, HiddenFiles};
use domain::{Language, ToolExample};
use serde_json::json;

use crate::support::Documents;

const NAMES: [&str; 4] = ["grep_search", "glob_search", "read_file", "list_directory"];

#[test]
fn declarations_describe_their_parameters_and_examples_fit() {
    let documents = Documents::new(&[]);
    for name in NAMES {
        for language in [Language::Zh, Language::En] {
            let spec = documents.tool(name).spec(language);
            for (field, schema) in spec.parameters["properties"].as_object().unwrap() {
                assert!(schema["description"].as_str().is_some_and(|text| !text.is_empty()), "{name}.{field}");
            }
            assert!(!spec.description.is_empty() && !spec.examples.is_empty(), "{name}");
            for ToolExample { arguments, .. } in spec.examples {
                assert_eq!(tool_calls::coerce_arguments(&spec.parameters, arguments.clone()), Ok(arguments));
            }
        }
    }
}

#[test]
fn metadata_names_the_folder_without_its_path() {
    let documents = Documents::new(&[]);
    for name in NAMES {
        assert_eq!(documents.tool(name).metadata().cwd.as_deref(), Some("docs"), "{name}");
    }
    let root = DocumentRoot::open(Path::new("/"), HiddenFiles::Skip).unwrap();
    assert_eq!(documents::tools(&root.into())[0].metadata().cwd.as_deref(), Some("root"));
}

#[test]
fn required_arguments_and_defaults_are_declared() {
    let documents = Documents::new(&[]);
    let schema = |name: &str| documents.tool(name).spec(Language::En).parameters;
    let fields = |name: &str| schema(name)["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(schema("grep_search")["required"], json!(["pattern"]));
    assert_eq!(fields("grep_search"), ["pattern", "path", "include", "context"]);
    assert_eq!(schema("glob_search")["required"], json!(["pattern"]));
    assert_eq!(fields("glob_search"), ["pattern", "path", "offset", "limit"]);
    let defaults = ["offset", "limit"].map(|field| schema("glob_search")["properties"][field]["default"].clone());
    assert_eq!(defaults, [json!(0), json!(100)]);
    assert_eq!(schema("read_file")["required"], json!(["file_path"]));
    assert_eq!(fields("read_file"), ["file_path", "offset", "limit"]);
    assert_eq!((schema("list_directory").get("required"), fields("list_directory")), (None, vec!["path".to_owned()]));
}
