//! What must hold for every text. Also used by the fuzz target, so it knows only the public face.

use serde_json::Value;
use vambrace_json::{Limits, RESERVED, check as is_taken, read};

/// Small, so that a short text reaches them.
const LIMITS: Limits = Limits { bytes: 1 << 16, depth: 12, nodes: 200 };

/// What is wrong, if anything.
pub(crate) fn check(text: &[u8]) -> Result<(), String> {
    let value = match (read(text, LIMITS), is_taken(text, LIMITS)) {
        (Ok(value), Ok(())) => value,
        (Err(read), Err(taken)) if read == taken => return Ok(()),
        (read, taken) => return Err(format!("read: {read:?}, checked: {taken:?}")),
    };
    let (n_nodes, depth) = measure(&value)?;
    if text.len() > LIMITS.bytes || n_nodes > LIMITS.nodes || depth > LIMITS.depth {
        return Err(format!("{} bytes, {n_nodes} nodes, {depth} deep", text.len()));
    }
    let written = value.to_string();
    let again = read(written.as_bytes(), LIMITS).map_err(|fault| format!("{written}: {fault}"))?;
    if again != value {
        return Err(format!("{value} became {again}"));
    }
    // A library that is given the value makes the same of it, and so does one that is given the text.
    let taken: Value = serde_json::from_value(value.clone()).map_err(|error| error.to_string())?;
    let parsed: Value = vambrace_json::read_as(text, LIMITS).map_err(|fault| fault.to_string())?;
    if taken != value || parsed != value {
        return Err(format!("of {value}, the library made {taken} and {parsed}"));
    }
    Ok(())
}

/// Values and names, and how deep they lie.
fn measure(value: &Value) -> Result<(usize, usize), String> {
    let inner: Vec<&Value> = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return Ok((1, 0)),
        Value::Array(items) => items.iter().collect(),
        Value::Object(members) => {
            if members.keys().any(|name| name.starts_with(RESERVED)) {
                return Err("a reserved name was read".to_owned());
            }
            members.values().collect()
        }
    };
    let n_names = if value.is_object() { inner.len() } else { 0 };
    inner.into_iter().try_fold((1 + n_names, 1), |(n_nodes, depth), value| {
        let (more, deeper) = measure(value)?;
        Ok((n_nodes + more, depth.max(deeper + 1)))
    })
}
