//! The language model, conversations, and the terminal agent's switches.

use std::collections::BTreeMap;

use super::{section, words};
use crate::value::{Period, SecretText, secret_or_none};

section! {
    /// The terminal agent's safety switches (specification 002).
    pub struct ToolSafety {
        /// Whether a checkpoint is made before each change.
        pub git_enabled: bool = true,
        /// The time limit of `bash_command`.
        pub command_timeout: Period = Period::seconds(30),
        /// Whether `firejail` builds the cage.
        pub firejail_enabled: bool = false,
    }
}

words! {
    /// Who serves the model.
    pub enum LlmProvider {
        Anthropic = "anthropic",
        /// OpenAI, or anything that speaks its language.
        Openai = "openai",
        Ollama = "ollama",
    }
}

section! {
    /// The language model.
    pub struct Llm {
        /// Who serves it.
        pub provider: LlmProvider = LlmProvider::Anthropic,
        /// The provider's address. Unset: the provider's own.
        pub base_url: Option<String> = None,
        /// The provider's key.
        #[serde(deserialize_with = "secret_or_none")]
        pub api_key: Option<SecretText> = None,
        /// The model's name.
        pub model: Option<String> = None,
        /// The text that instructs the model in `chat`.
        pub system_prompt: Option<String> = None,
    }
}

section! {
    /// The language model, in specification 001's section. `llm` wins where both are set.
    pub struct Anthropic {
        /// The key.
        #[serde(deserialize_with = "secret_or_none")]
        pub api_key: Option<SecretText> = None,
        /// The model's name.
        pub model: Option<String> = None,
        /// Further headers of every request.
        pub extra_headers: BTreeMap<String, SecretText> = BTreeMap::new(),
    }
}

section! {
    /// The text that instructs the model (specification 001).
    pub struct Prompt {
        /// The text.
        pub base_prompt: Option<String> = None,
        /// A file with the text.
        pub template_path: Option<String> = None,
        /// Whether the file is read again when it changes.
        pub enable_hot_reload: bool = false,
    }
}

section! {
    /// Cleaning of answers by a small model (specification 001).
    pub struct ResponseCleaner {
        /// Whether it is done.
        pub enabled: bool = false,
        /// The model.
        pub model: Option<String> = None,
    }
}

words! {
    /// How a session gets its identifier.
    pub enum SessionIdFormat {
        /// Random and bound to the caller.
        Random = "random",
        /// From the thread or the client's own (specification 001).
        Derived = "derived",
        /// From the time of day (specification 002).
        Timestamp = "timestamp",
    }
}

section! {
    /// Conversations and their identifiers.
    pub struct Session {
        /// How a session gets its identifier.
        pub id_format: SessionIdFormat = SessionIdFormat::Random,
        /// The turns that compaction keeps.
        pub compact_keep_turns: u64 = 4,
        /// The model that compacts.
        pub compact_model: Option<String> = None,
        /// The tokens from which on a conversation is compacted.
        #[schemars(range(min = 1))]
        pub compact_threshold: u64 = 8_000,
    }
}
