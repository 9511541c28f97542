//! The tools that remember. One store has two faces: facts of specification 001 and notes of specification
//! 003.

mod delete_memory;
mod memory_read;
mod memory_write;
mod save_to_memory;
mod search_memory;
mod update_memory;

use std::sync::Arc;

use futures_util::FutureExt as _;
use vambrace_audit::{Clock, rfc3339};
use vambrace_knowledge::{Kind, Memory, MemoryStore, NewMemory, NoOwner, Owner, Sharing, StoreError};
use vambrace_policy::{
    Action, DeleteMemory, Denial, Epoch, Permit, Reason, SaveMemory, Saving, SearchMemory, UpdateMemory,
};
use vambrace_state::{Answer, StateError, TIMEOUT, within};
use vambrace_types::{Caller, ErrorCode, RawOutput, ToolError, ToolName, Tree, clean_controls};

pub(crate) use delete_memory::DeleteMemoryTool;
pub(crate) use memory_read::MemoryReadTool;
pub(crate) use memory_write::MemoryWriteTool;
pub(crate) use save_to_memory::SaveToMemoryTool;
pub(crate) use search_memory::SearchMemoryTool;
pub(crate) use update_memory::UpdateMemoryTool;

/// LIMIT: of one memory, in bytes.
const LONGEST: usize = 64 << 10;
/// LIMIT: of a category, in characters.
const LONGEST_CATEGORY: usize = 100;
/// LIMIT: of a question, in bytes.
const LONGEST_QUERY: usize = 1 << 10;
/// LIMIT: of the memories that one search returns.
const MOST_RESULTS: u32 = 100;

/// The door to what is remembered. It is wired to one policy, as every door.
pub struct Memories {
    store: Arc<dyn MemoryStore>,
    sharing: Sharing,
    results: u32,
    epoch: Epoch,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for Memories {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Memories")
    }
}

/// What became of a text that was saved.
pub(crate) struct Saved {
    pub(crate) id: String,
    /// Notes that it replaced.
    pub(crate) n_gone: usize,
}

/// What the store was asked and has not said yet. Asking may hold the thread; waiting for the
/// answer does not.
pub(crate) struct Asked<'m, T> {
    /// The memory it is about, if it is about one.
    id: String,
    answer: Answer<'m, Result<T, StoreError>>,
}

impl<'m, T> Asked<'m, T> {
    fn new(
        id: String,
        answer: impl Future<Output = Result<Result<T, StoreError>, StateError>> + Send + 'm,
    ) -> Asked<'m, T> {
        Asked { id, answer: Box::pin(answer) }
    }

    pub(crate) async fn answer(self) -> Result<T, ToolError> {
        match within(TIMEOUT, self.answer).await {
            Ok(said) => said.map_err(|error| failed(&error, &self.id)),
            Err(error) => Err(unavailable(&error)),
        }
    }
}

impl Memories {
    /// `results` is how many a search returns unless a call says otherwise.
    pub fn new(
        store: Arc<dyn MemoryStore>,
        sharing: Sharing,
        results: u32,
        epoch: Epoch,
        clock: Arc<dyn Clock>,
    ) -> Memories {
        Memories { store, sharing, results: results.clamp(1, MOST_RESULTS), epoch, clock }
    }

    pub(crate) fn sharing(&self) -> Sharing {
        self.sharing
    }

    pub(crate) fn save(
        &self,
        permit: Permit<SaveMemory>,
        caller: &Caller,
    ) -> Result<Asked<'_, Saved>, ToolError> {
        let SaveMemory { content, category, saving } = self.redeem(permit)?;
        let owner = self.owner(caller)?;
        let kind = match saving {
            Saving::Fact => Kind::Fact,
            Saving::Append | Saving::Overwrite => Kind::Note,
        };
        let new = NewMemory { kind, text: content, author: author(caller), category };
        let now = self.clock.now();
        Ok(match saving {
            Saving::Fact | Saving::Append => {
                let saved = self.store.save(&owner, &new, now);
                Asked::new(String::new(), async { Ok(saved.await?.map(|id| Saved { id, n_gone: 0 })) })
            }
            Saving::Overwrite => {
                let saved = self.store.overwrite(&owner, &new, now);
                let saved = async { Ok(saved.await?.map(|(id, n_gone)| Saved { id, n_gone })) };
                Asked::new(String::new(), saved)
            }
        })
    }

    /// The best first; without a question, in the order in which they came.
    pub(crate) fn search(
        &self,
        permit: Permit<SearchMemory>,
        caller: &Caller,
    ) -> Result<Asked<'_, Vec<Memory>>, ToolError> {
        let SearchMemory { query, limit } = self.redeem(permit)?;
        let owner = self.owner(caller)?;
        let limit = limit.and_then(|limit| u32::try_from(limit).ok());
        let found = match query {
            Some(query) => {
                self.store.search(&owner, &query, limit.unwrap_or(self.results).clamp(1, MOST_RESULTS))
            }
            None => self.store.newest(&owner, limit.unwrap_or(1)),
        };
        Ok(Asked { id: String::new(), answer: found })
    }

    pub(crate) fn update(
        &self,
        permit: Permit<UpdateMemory>,
        caller: &Caller,
    ) -> Result<Asked<'_, ()>, ToolError> {
        let UpdateMemory { id, content } = self.redeem(permit)?;
        let owner = self.owner(caller)?;
        let answer = self.store.update(&owner, &id, &content, &author(caller), self.clock.now());
        Ok(Asked { id, answer })
    }

    pub(crate) fn delete(
        &self,
        permit: Permit<DeleteMemory>,
        caller: &Caller,
    ) -> Result<Asked<'_, ()>, ToolError> {
        let DeleteMemory { id } = self.redeem(permit)?;
        let owner = self.owner(caller)?;
        let answer = self.store.delete(&owner, &id);
        Ok(Asked { id, answer })
    }

    /// For previews: what the call would change. Holds the thread, which the walk has made known.
    pub(crate) fn find(&self, caller: &Caller, id: &str) -> Result<Memory, ToolError> {
        let answer = self.store.find(&self.owner(caller)?, id);
        let mut asked = std::pin::pin!(Asked { id: id.to_owned(), answer }.answer());
        // What is there needs no runtime.
        if let Some(found) = asked.as_mut().now_or_never() {
            return found;
        }
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => runtime.block_on(asked),
            Err(_) => Err(unavailable(&StateError::Away { why: "nobody can wait for it here".to_owned() })),
        }
    }

    pub(crate) fn owner(&self, caller: &Caller) -> Result<Owner, ToolError> {
        self.sharing.owner(caller).map_err(|why| {
            let message = match why {
                NoOwner::Channel => "Memory is kept for each channel here, and this call names no channel.",
                NoOwner::Person => "Memory is kept for each person here, and this call names no person.",
                NoOwner::Unreadable => "The caller's name, person or channel holds a control character.",
            };
            ToolError::new(ErrorCode::NoMemoryOwner, message).suggestion(
                "Ask the operator: the front end has to say for whom it calls, or `rag.knowledge_scope` be `shared`.",
            )
        })
    }

    fn redeem<A: Action>(&self, permit: Permit<A>) -> Result<A, ToolError> {
        permit
            .redeem(self.epoch)
            .map_err(|_| Denial::new(Reason::StalePermit, "policy.epoch").to_tool_error())
    }
}

/// The person, as far as one is known.
fn author(caller: &Caller) -> String {
    let known = [&caller.email, &caller.user].into_iter().flatten().find(|text| !text.is_empty());
    known.unwrap_or(&caller.id).clone()
}

fn failed(error: &StoreError, id: &str) -> ToolError {
    match error {
        StoreError::NotFound => {
            ToolError::new(ErrorCode::MemoryNotFound, format!("There is no memory with the id `{id}`."))
                .suggestion("search_memory shows what is remembered, with ids.")
        }
        StoreError::Full { most } => ToolError::new(
            ErrorCode::ResourceExhausted,
            format!("There are {most} memories already, and no more are kept."),
        )
        .suggestion(
            "Remove what is no longer true with delete_memory, or change what is there with update_memory.",
        ),
        StoreError::FullOfBytes { most } => ToolError::new(
            ErrorCode::ResourceExhausted,
            format!("The memories together would be longer than {most} bytes, and no more are kept."),
        )
        .suggestion(
            "Remove what is no longer true with delete_memory, or make it shorter with update_memory.",
        ),
        StoreError::Busy => ToolError::new(ErrorCode::ResourceBusy, "Another process is using the memory.")
            .suggestion("Make the call again in a moment."),
        StoreError::Newer { .. } | StoreError::Broken { .. } => {
            ToolError::new(ErrorCode::IoError, format!("The memory cannot be used: {error}."))
                .suggestion("Tell the person you work for; it is the file `memory.db` in the state folder.")
        }
    }
}

/// Why it is away is for operators.
fn unavailable(error: &StateError) -> ToolError {
    let message = match error {
        StateError::Away { .. } => "The memory cannot be reached.",
        StateError::Late { .. } => "The memory did not answer in time.",
    };
    ToolError::new(ErrorCode::StateUnavailable, message).suggestion(
        "Make the call again in a moment. What was to be changed may have been changed; search_memory shows it.",
    )
}

/// A text to remember. Control characters go before it is looked at for secrets, so that what is kept is
/// what was judged.
fn content(text: &str) -> Result<String, ToolError> {
    let (text, _) = clean_controls(text);
    if text.trim().is_empty() {
        return Err(invalid("The argument `content` is empty.", "Send the text that is to be remembered."));
    }
    if text.len() > LONGEST {
        return Err(invalid(
            &format!("The argument `content` is longer than {LONGEST} bytes."),
            "Save it in several pieces, or what matters of it.",
        ));
    }
    Ok(text.into_owned())
}

fn category(text: Option<&str>) -> Result<Option<String>, ToolError> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(None) };
    if text.chars().count() > LONGEST_CATEGORY {
        return Err(invalid(
            &format!("The argument `category` is longer than {LONGEST_CATEGORY} characters."),
            "A category is a word or two, such as `deployment`.",
        ));
    }
    Ok(Some(clean_controls(text).0.into_owned()))
}

fn query(text: &str) -> Result<String, ToolError> {
    if text.len() > LONGEST_QUERY {
        return Err(invalid(
            &format!("The argument `query` is longer than {LONGEST_QUERY} bytes."),
            "Ask with the few words that matter.",
        ));
    }
    Ok(clean_controls(text).0.into_owned())
}

/// An id that no memory has is not looked for; whether it has the form of one is nobody's business.
fn id(text: String) -> Result<String, ToolError> {
    const LONGEST_ID: usize = 64;
    if text.len() <= LONGEST_ID { Ok(text) } else { Err(failed(&StoreError::NotFound, "…")) }
}

fn invalid(message: &str, suggestion: &str) -> ToolError {
    ToolError::new(ErrorCode::ValidationError, message).suggestion(suggestion)
}

fn described(memory: Memory) -> Tree {
    let mut entries = vec![
        ("id", Tree::Text(memory.id)),
        ("text", Tree::Text(memory.text)),
        ("author", Tree::Text(memory.author)),
        ("timestamp", Tree::text(rfc3339(memory.changed))),
    ];
    entries.extend(memory.category.map(|category| ("category", Tree::Text(category))));
    Tree::map(entries)
}

/// What a dry run shows.
fn would(tool: &ToolName, sharing: Sharing, entries: Vec<(&'static str, Tree)>) -> RawOutput {
    let first = [("would", Tree::text(tool.as_str())), ("scope", Tree::text(sharing.as_str()))];
    RawOutput::new(Tree::map(first.into_iter().chain(entries)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use vambrace_audit::SystemClock;
    use vambrace_state::Outage;
    use vambrace_types::{Door, Role};

    use super::*;

    #[track_caller]
    fn check<T>(result: Result<T, ToolError>, fits: bool) {
        assert_eq!(result.err().map(|error| error.code), (!fits).then_some(ErrorCode::ValidationError));
    }

    #[tokio::test(start_paused = true)]
    async fn without_its_store_the_memory_says_so_in_time() {
        let caller = Caller::named("ann", Role::Dev, Door::Rest);
        for (outage, waited) in [(Outage::Away, Duration::ZERO), (Outage::Silent, TIMEOUT)] {
            let clock = Arc::new(SystemClock);
            let memories = Memories::new(Arc::new(outage), Sharing::Everybody, 5, Epoch(1), clock);
            let owner = memories.owner(&caller).unwrap();
            let began = tokio::time::Instant::now();
            let asked = Asked { id: "m".to_owned(), answer: memories.store.delete(&owner, "m") };
            let error = asked.answer().await.unwrap_err();
            assert_eq!((error.code, began.elapsed()), (ErrorCode::StateUnavailable, waited), "{outage:?}");
            let asked = Asked { id: String::new(), answer: memories.store.search(&owner, "q", 1) };
            assert_eq!(asked.answer().await.unwrap_err().code, ErrorCode::StateUnavailable, "{outage:?}");
        }
        let away =
            Memories::new(Arc::new(Outage::Away), Sharing::Everybody, 5, Epoch(1), Arc::new(SystemClock));
        assert_eq!(away.find(&caller, "m").unwrap_err().code, ErrorCode::StateUnavailable, "a preview");
    }

    #[test]
    fn the_bounds_and_what_lies_just_outside() {
        check(content("x"), true);
        check(content(&"x".repeat(LONGEST)), true);
        check(content(&"x".repeat(LONGEST + 1)), false);
        check(content(""), false);
        check(content(" \n\u{0}"), false);
        check(category(None), true);
        check(category(Some(&"ä".repeat(LONGEST_CATEGORY))), true);
        check(category(Some(&"ä".repeat(LONGEST_CATEGORY + 1))), false);
        check(query(&"x".repeat(LONGEST_QUERY)), true);
        check(query(&"x".repeat(LONGEST_QUERY + 1)), false);
        assert_eq!(id("x".repeat(65)).unwrap_err().code, ErrorCode::MemoryNotFound);
        assert_eq!(content("a\u{1b}[31m\u{0}b\n").unwrap(), "a[31mb\n");
        assert_eq!(category(Some("  ")).unwrap(), None);
    }
}
