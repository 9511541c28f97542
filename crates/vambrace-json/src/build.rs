//! One visitor for both ways to read, so that what is checked and what is read cannot differ.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::{Limits, What, is_reserved};

/// What is made while reading.
pub(crate) trait Build: Sized {
    type List: Default;
    type Members<'de>: Default;

    fn of(scalar: Scalar<'_>) -> Self;
    fn push(list: &mut Self::List, item: Self);
    /// Whether the name is new.
    fn insert<'de>(members: &mut Self::Members<'de>, name: Cow<'de, str>, value: Self) -> bool;
    fn list(list: Self::List) -> Self;
    fn members(members: Self::Members<'_>) -> Self;
}

pub(crate) enum Scalar<'t> {
    Null,
    Bool(bool),
    Number(Number),
    Text(&'t str),
}

/// A tree.
impl Build for Value {
    type List = Vec<Value>;
    type Members<'de> = Map<String, Value>;

    fn of(scalar: Scalar<'_>) -> Value {
        match scalar {
            Scalar::Null => Value::Null,
            Scalar::Bool(value) => Value::Bool(value),
            Scalar::Number(number) => Value::Number(number),
            Scalar::Text(text) => Value::String(text.to_owned()),
        }
    }

    fn push(list: &mut Vec<Value>, item: Value) {
        list.push(item);
    }

    fn insert<'de>(members: &mut Map<String, Value>, name: Cow<'de, str>, value: Value) -> bool {
        members.insert(name.into_owned(), value).is_none()
    }

    fn list(list: Vec<Value>) -> Value {
        Value::Array(list)
    }

    fn members(members: Map<String, Value>) -> Value {
        Value::Object(members)
    }
}

/// Nothing; of open objects, the names are kept.
impl Build for () {
    type List = ();
    type Members<'de> = HashSet<Cow<'de, str>>;

    fn of(_scalar: Scalar<'_>) {}

    fn push(_list: &mut (), _item: ()) {}

    fn insert<'de>(names: &mut HashSet<Cow<'de, str>>, name: Cow<'de, str>, _value: ()) -> bool {
        names.insert(name)
    }

    fn list(_list: ()) {}

    fn members(_members: HashSet<Cow<'_, str>>) {}
}

pub(crate) struct Budget {
    limits: Limits,
    n_nodes: Cell<usize>,
    fault: Cell<Option<What>>,
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Budget {
        Budget { limits, n_nodes: Cell::new(0), fault: Cell::new(None) }
    }

    pub(crate) fn n_nodes(&self) -> usize {
        self.n_nodes.get()
    }

    pub(crate) fn fault(&self) -> Option<What> {
        self.fault.get()
    }

    fn refuse<E: Error>(&self, what: What, said: impl fmt::Display) -> E {
        self.fault.set(Some(what));
        E::custom(said)
    }

    fn count<E: Error>(&self) -> Result<(), E> {
        let n_nodes = self.n_nodes.get() + 1;
        if n_nodes > self.limits.nodes {
            let said = format_args!("it has more than {} values and names", self.limits.nodes);
            return Err(self.refuse(What::TooMany, said));
        }
        self.n_nodes.set(n_nodes);
        Ok(())
    }

    fn enter<E: Error>(&self, depth: usize) -> Result<usize, E> {
        if depth >= self.limits.depth {
            let said = format_args!("it is nested deeper than {}", self.limits.depth);
            return Err(self.refuse(What::TooDeep, said));
        }
        Ok(depth + 1)
    }
}

pub(crate) struct Seed<'b, B> {
    budget: &'b Budget,
    /// Lists and objects around it.
    depth: usize,
    made: PhantomData<B>,
}

impl<'b, B> Seed<'b, B> {
    pub(crate) fn new(budget: &'b Budget) -> Seed<'b, B> {
        Seed { budget, depth: 0, made: PhantomData }
    }

    fn at(budget: &'b Budget, depth: usize) -> Seed<'b, B> {
        Seed { budget, depth, made: PhantomData }
    }
}

impl<'de, B: Build> DeserializeSeed<'de> for Seed<'_, B> {
    type Value = B;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<B, D::Error> {
        self.budget.count()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de, B: Build> Visitor<'de> for Seed<'_, B> {
    type Value = B;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<B, E> {
        Ok(B::of(Scalar::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<B, E> {
        Ok(B::of(Scalar::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<B, E> {
        Ok(B::of(Scalar::Number(value.into())))
    }

    fn visit_u64<E>(self, value: u64) -> Result<B, E> {
        Ok(B::of(Scalar::Number(value.into())))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<B, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("not a finite number"))?;
        Ok(B::of(Scalar::Number(number)))
    }

    fn visit_str<E>(self, text: &str) -> Result<B, E> {
        Ok(B::of(Scalar::Text(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<B, A::Error> {
        let depth = self.budget.enter(self.depth)?;
        let mut list = B::List::default();
        while let Some(item) = sequence.next_element_seed(Seed::<B>::at(self.budget, depth))? {
            B::push(&mut list, item);
        }
        Ok(B::list(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<B, A::Error> {
        let depth = self.budget.enter(self.depth)?;
        let mut members = B::Members::default();
        while let Some(name) = map.next_key_seed(Name)? {
            if is_reserved(&name) {
                return Err(self.budget.refuse(What::ReservedName, "the name of a member is reserved"));
            }
            self.budget.count()?;
            let value = map.next_value_seed(Seed::<B>::at(self.budget, depth))?;
            if !B::insert(&mut members, name, value) {
                return Err(self.budget.refuse(What::NameTwice, "a name stands twice"));
            }
        }
        Ok(B::members(members))
    }
}

/// A member's name, borrowed where it is written without escapes.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cow<'de, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the name of a member")
    }

    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E>(self, name: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}
