//! All tools in one table. The private trait is implemented once, for every `Tool`, by calling the generic walk: a tool
//! cannot be registered with a way round a stage.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;

use serde_json::{Map, Value};
use vambrace_policy::{Action, Capability};
use vambrace_tools::{ALIASES, About, Audience, Tool, Toolbox, Visitor, visit_all};

use crate::stage::Unsent;
use crate::walk::{walk, walk_nowhere};
use crate::{Corridor, Incoming};

type Walking<'a> = Pin<Box<dyn Future<Output = Unsent> + Send + 'a>>;

trait Walk: Send + Sync {
    fn about(&self) -> About;
    fn audience(&self) -> Audience;
    fn capability(&self) -> Capability;
    fn schema(&self) -> Map<String, Value>;
    fn is_brief(&self, arguments: &Value) -> bool;
    fn walk<'a>(&'a self, corridor: &'a Corridor, incoming: Incoming) -> Walking<'a>;
}

impl<T: Tool> Walk for T {
    fn about(&self) -> About {
        Tool::about(self)
    }

    fn audience(&self) -> Audience {
        T::AUDIENCE
    }

    fn capability(&self) -> Capability {
        T::Action::CAPABILITY
    }

    fn schema(&self) -> Map<String, Value> {
        if let Some(schema) = self.own_schema() {
            return schema;
        }
        let mut settings = schemars::generate::SchemaSettings::draft2020_12();
        // Models read one flat schema more reliably than references.
        settings.inline_subschemas = true;
        let schema = settings.into_generator().into_root_schema_for::<T::Args>();
        match schema.to_value() {
            Value::Object(mut schema) => {
                schema.remove("title");
                schema.remove("$schema");
                schema.values_mut().for_each(without_null);
                schema
            }
            _ => Map::new(),
        }
    }

    fn is_brief(&self, arguments: &Value) -> bool {
        Tool::is_brief(self, arguments)
    }

    fn walk<'a>(&'a self, corridor: &'a Corridor, incoming: Incoming) -> Walking<'a> {
        Box::pin(walk(self, corridor, incoming))
    }
}

/// An optional argument is left out, not sent as null; some clients do not take a list of types.
fn without_null(node: &mut Value) {
    match node {
        Value::Object(entries) => {
            if let Some(Value::Array(types)) = entries.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    entries.insert("type".to_owned(), only);
                }
            }
            entries.retain(|key, value| key != "default" || !value.is_null());
            entries.values_mut().for_each(without_null);
        }
        Value::Array(items) => items.iter_mut().for_each(without_null),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A tool as a front end shows it.
#[derive(Debug, Clone)]
pub struct ToolDescription {
    pub about: About,
    pub capability: Capability,
    /// JSON Schema of the arguments.
    pub schema: Map<String, Value>,
}

pub(crate) struct Table {
    tools: BTreeMap<&'static str, Row>,
}

struct Row {
    tool: Box<dyn Walk>,
    /// Made once: front ends look at it with every list, some with every call.
    schema: OnceLock<Map<String, Value>>,
}

impl Row {
    fn is_for_agents(&self) -> bool {
        self.tool.audience() == Audience::Agents
    }

    fn describe(&self) -> ToolDescription {
        ToolDescription {
            about: self.tool.about(),
            capability: self.tool.capability(),
            schema: self.schema.get_or_init(|| self.tool.schema()).clone(),
        }
    }
}

impl Visitor for Table {
    fn visit<T: Tool>(&mut self, tool: T) {
        let row = Row { tool: Box::new(tool), schema: OnceLock::new() };
        self.tools.insert(row.tool.about().name, row);
    }
}

impl Table {
    pub(crate) fn new(toolbox: &Toolbox) -> Table {
        let mut table = Table { tools: BTreeMap::new() };
        visit_all(&mut table, toolbox);
        table
    }

    fn find(&self, name: &str) -> Option<&dyn Walk> {
        let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, tool)| tool);
        self.tools.get(name).map(|row| row.tool.as_ref())
    }

    /// Whether the call is so short that it is done where it came in. A person who is asked takes longer.
    pub(crate) fn is_brief(&self, incoming: &Incoming) -> bool {
        incoming.approver.is_none()
            && self.find(&incoming.tool).is_some_and(|tool| tool.is_brief(&incoming.arguments))
    }

    pub(crate) async fn walk(&self, corridor: &Corridor, incoming: Incoming) -> Unsent {
        match self.find(&incoming.tool) {
            Some(tool) => tool.walk(corridor, incoming).await,
            None => {
                let may = |row: &&Row| {
                    row.is_for_agents() && corridor.may_use(&incoming.caller, row.tool.capability())
                };
                let names: Vec<_> =
                    self.tools.values().filter(may).map(|row| row.tool.about().name).collect();
                walk_nowhere(corridor, incoming, &names.join(", "))
            }
        }
    }

    pub(crate) fn offered(&self, may: impl Fn(Capability) -> bool) -> Vec<ToolDescription> {
        let rows = self.tools.values().filter(|row| row.is_for_agents() && may(row.tool.capability()));
        rows.map(Row::describe).collect()
    }

    /// One of those, by its own name.
    pub(crate) fn one(&self, name: &str, may: impl Fn(Capability) -> bool) -> Option<ToolDescription> {
        let row = self.tools.get(name).filter(|row| row.is_for_agents() && may(row.tool.capability()));
        row.map(Row::describe)
    }
}
