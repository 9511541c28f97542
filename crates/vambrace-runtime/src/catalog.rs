//! All tools, by where they come from. The private trait is implemented once, for every `Tool`, by
//! calling the generic walk: a tool cannot be registered with a way round a stage.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use serde_json::{Map, Value};
use tokio::sync::watch;
use vambrace_policy::{Action, Capability, Kinds};
use vambrace_tools::{ALIASES, About, Audience, Tool, Toolbox, Visitor, built_in, declared, sub_agents};
use vambrace_types::ToolName;

use crate::walk::walk;
use crate::{Context, Corridor, Incoming, Reply};

type Walking<'a> = Pin<Box<dyn Future<Output = Reply> + Send + 'a>>;

trait Walk: Send + Sync {
    fn audience(&self) -> Audience;
    fn capability(&self) -> Capability;
    fn schema(&self) -> Map<String, Value>;
    fn kinds(&self) -> Kinds;
    fn walk<'a>(
        &'a self,
        name: &'a ToolName,
        corridor: &'a Corridor,
        context: Arc<Context>,
        incoming: Incoming,
    ) -> Walking<'a>;
}

impl<T: Tool> Walk for T {
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

    fn kinds(&self) -> Kinds {
        T::Action::KINDS
    }

    fn walk<'a>(
        &'a self,
        name: &'a ToolName,
        corridor: &'a Corridor,
        context: Arc<Context>,
        incoming: Incoming,
    ) -> Walking<'a> {
        Box::pin(walk(self, name, corridor, context, incoming))
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
    pub kinds: Kinds,
    /// JSON Schema of the arguments.
    pub schema: Map<String, Value>,
}

/// Tools that come from one place: built in, declared, sub-agents. A source is replaced as a whole.
pub struct ToolSource {
    name: &'static str,
    rows: Vec<Arc<Row>>,
}

impl ToolSource {
    pub fn new(name: &'static str) -> ToolSource {
        ToolSource { name, rows: Vec::new() }
    }

    fn filled(name: &'static str, fill: impl FnOnce(&mut ToolSource)) -> ToolSource {
        let mut source = ToolSource::new(name);
        fill(&mut source);
        source
    }
}

impl Visitor for ToolSource {
    fn visit<T: Tool>(&mut self, tool: T) {
        self.rows.push(Arc::new(Row { about: tool.about(), tool: Box::new(tool), schema: OnceLock::new() }));
    }
}

pub(crate) struct Row {
    about: About,
    tool: Box<dyn Walk>,
    /// Made once: front ends look at it with every list, some with every call.
    schema: OnceLock<Map<String, Value>>,
}

impl Row {
    pub(crate) async fn walk(&self, corridor: &Corridor, context: Arc<Context>, incoming: Incoming) -> Reply {
        self.tool.walk(&self.about.name, corridor, context, incoming).await
    }

    fn describe(&self) -> ToolDescription {
        ToolDescription {
            about: self.about.clone(),
            capability: self.tool.capability(),
            kinds: self.tool.kinds(),
            schema: self.schema.get_or_init(|| self.tool.schema()).clone(),
        }
    }
}

const BUILT_IN: &str = "built in";

/// All tools, as they are now. Sources can be exchanged while calls are served: a call ends with
/// the tool it began with.
pub(crate) struct Catalog {
    now: RwLock<Arc<Snapshot>>,
    changed: watch::Sender<()>,
}

struct Snapshot {
    /// In the order of precedence.
    sources: Vec<Arc<ToolSource>>,
    tools: BTreeMap<ToolName, Arc<Row>>,
}

impl Snapshot {
    /// INVARIANT: of two tools of the same name the earlier source's counts, so nobody takes the
    /// name of ours.
    fn of(sources: Vec<Arc<ToolSource>>) -> Snapshot {
        let mut tools = BTreeMap::new();
        for row in sources.iter().flat_map(|source| &source.rows) {
            tools.entry(row.about.name.clone()).or_insert_with(|| Arc::clone(row));
        }
        Snapshot { sources, tools }
    }

    fn for_agents(&self, may: impl Fn(Capability) -> bool) -> impl Iterator<Item = &Arc<Row>> {
        let is_for_agents = |row: &&Arc<Row>| row.tool.audience() == Audience::Agents;
        self.tools.values().filter(is_for_agents).filter(move |row| may(row.tool.capability()))
    }
}

impl Catalog {
    pub(crate) fn new(toolbox: &Toolbox) -> Catalog {
        let sources = vec![
            ToolSource::filled(BUILT_IN, |source| built_in(source, toolbox)),
            ToolSource::filled("declared", |source| declared(source, toolbox)),
            ToolSource::filled("sub-agents", |source| sub_agents(source, toolbox)),
        ];
        let sources = sources.into_iter().map(Arc::new).collect();
        Catalog { now: RwLock::new(Arc::new(Snapshot::of(sources))), changed: watch::Sender::new(()) }
    }

    /// Takes the place of the source of this name, or comes behind all others. Those who watch are told.
    /// INVARIANT: ours stay.
    pub(crate) fn replace(&self, source: ToolSource) {
        if source.name == BUILT_IN {
            return;
        }
        let mut now = self.now.write().unwrap_or_else(PoisonError::into_inner);
        let mut sources = now.sources.clone();
        let source = Arc::new(source);
        match sources.iter_mut().find(|known| known.name == source.name) {
            Some(known) => *known = source,
            None => sources.push(source),
        }
        *now = Arc::new(Snapshot::of(sources));
        drop(now);
        self.changed.send_replace(());
    }

    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    fn now(&self) -> Arc<Snapshot> {
        Arc::clone(&self.now.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// By its own name, or another that specifications know it by.
    pub(crate) fn find(&self, name: &str) -> Option<Arc<Row>> {
        let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, tool)| tool);
        self.now().tools.get(name).cloned()
    }

    /// For whoever asked for a tool that there is not.
    pub(crate) fn names(&self, may: impl Fn(Capability) -> bool) -> String {
        let now = self.now();
        let names: Vec<_> = now.for_agents(may).map(|row| row.about.name.as_str()).collect();
        names.join(", ")
    }

    pub(crate) fn offered(&self, may: impl Fn(Capability) -> bool) -> Vec<ToolDescription> {
        self.now().for_agents(may).map(|row| row.describe()).collect()
    }

    /// One of those, by its own name.
    pub(crate) fn one(&self, name: &str, may: impl Fn(Capability) -> bool) -> Option<ToolDescription> {
        self.now().for_agents(may).find(|row| row.about.name.as_str() == name).map(|row| row.describe())
    }

    /// Every tool, also those that no front end lists, and what it does.
    pub(crate) fn everything(&self) -> Vec<(ToolName, Kinds)> {
        self.now().tools.values().map(|row| (row.about.name.clone(), row.tool.kinds())).collect()
    }
}
