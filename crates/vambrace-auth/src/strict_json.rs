//! JSON objects in which no name stands twice. THREAT: P13, of two `sub` members one reader takes the first
//! and another the last; a gateway before us and we must not see different people in one token.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Depth is bounded by the reader (128), size by whoever hands the bytes in.
pub(crate) fn parse_object(bytes: &[u8]) -> Option<Map<String, Value>> {
    match serde_json::from_slice::<Strict>(bytes).ok()?.0 {
        Value::Object(members) => Some(members),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}

struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Strict, D::Error> {
        deserializer.deserialize_any(Reader).map(Strict)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not a finite number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Strict(item)) = sequence.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some((name, Strict(value))) = map.next_entry::<String, Strict>()? {
            if members.insert(name, value).is_some() {
                return Err(A::Error::custom("a name stands twice"));
            }
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_stands_twice_at_any_depth() {
        #[track_caller]
        fn check(text: &str, is_read: bool) {
            assert_eq!(parse_object(text.as_bytes()).is_some(), is_read, "{text}");
        }
        check(r#"{}"#, true);
        check(r#"{"a":1,"b":[true,null,-1,1.5,"x",{"a":2}]}"#, true);
        check(r#"{"a":1,"a":1}"#, false);
        check(r#"{"a":1,"\u0061":2}"#, false); // the same name, spelled differently
        check(r#"{"a":1,"A":2}"#, true); // names are case-sensitive
        check(r#"{"a":{"b":1,"b":2}}"#, false);
        check(r#"{"a":[{"b":1,"b":2}]}"#, false);
        check(r#"[]"#, false);
        check(r#""a""#, false);
        check(r#"{"a":1} "#, true);
        check(r#"{"a":1}{"#, false);
        check(r#"{"a":1e999}"#, false);
        check("{\"a\":\"\u{0}\"}", false);
        check(&format!("{}{}{}", r#"{"a":"#, "[".repeat(200), "]".repeat(200)), false);
    }

    #[test]
    fn what_is_read_is_what_the_library_reads() {
        let text = r#"{"n":null,"t":true,"i":-3,"u":18446744073709551615,"f":0.25,"s":"é\n","l":[[],{}]}"#;
        let expected: Value = serde_json::from_str(text).unwrap();
        assert_eq!(Value::Object(parse_object(text.as_bytes()).unwrap()), expected);
    }
}
