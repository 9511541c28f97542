use vambrace_runtime::Corridor;

use super::*;

fn shown() -> Value {
    document(&Corridor::all_tools(), "/")
}

fn references(node: &Value, found: &mut Vec<String>) {
    match node {
        Value::Object(entries) => {
            if let Some(Value::String(target)) = entries.get("$ref") {
                found.push(target.clone());
            }
            entries.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn every_reference_leads_somewhere() {
    let document = shown();
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(found.len() > 50, "{}", found.len());
    for target in found {
        let pointer = target.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{target}");
    }
}

#[test]
fn every_route_and_tool_is_described_once() {
    let document = shown();
    let mut ids = Vec::new();
    for item in document["paths"].as_object().unwrap().values() {
        for operation in item.as_object().unwrap().values() {
            ids.push(operation["operationId"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(ids.len(), ROUTES.len() + Corridor::all_tools().len());
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), ROUTES.len() + Corridor::all_tools().len());
}

#[test]
fn a_tools_own_references_are_moved_with_it() {
    let schema = json!({
        "properties": {"next": {"$ref": "#"}, "leaf": {"$ref": "#/$defs/leaf"}, "far": {"$ref": "https://example.com/x"}},
        "$defs": {"leaf": {"type": "string"}},
    });
    let moved = rebased(schema.as_object().unwrap().clone(), "Arguments.x");
    assert_eq!(moved["properties"]["next"]["$ref"], "#/components/schemas/Arguments.x");
    assert_eq!(moved["properties"]["leaf"]["$ref"], "#/components/schemas/Arguments.x/$defs/leaf");
    assert_eq!(moved["properties"]["far"]["$ref"], "https://example.com/x");
}
