//! The closed sets of words that stand in records. Renaming one breaks every reader.

macro_rules! words {
    ($(#[$note:meta])* $reach:vis enum $name:ident { $($(#[$about:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$note])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $reach enum $name { $($(#[$about])* $variant,)* }

        impl $name {
            $reach const ALL: &'static [$name] = &[$($name::$variant,)*];

            $reach fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }

            $reach fn parse(word: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|known| known.as_str() == word)
            }
        }
    };
}
pub(crate) use words;

words! {
    /// Before an effect, after a call, or neither.
    pub enum RecordKind { Intent = "intent", Outcome = "outcome", Event = "event", }
}

words! {
    /// What policy said.
    pub enum Verdict { Allow = "allow", Ask = "ask", Deny = "deny", }
}

words! {
    /// How much a record matters to whoever reads the log at night.
    pub enum Severity { Info = "INFO", Warning = "WARNING", Critical = "CRITICAL", }
}

words! {
    /// How a call ended. Every call ends in exactly one of these ways.
    pub enum Ending {
        Success = "success",
        Denied = "denied",
        /// A person had to be asked and none could be.
        AskedNobody = "asked_nobody",
        Failed = "failed",
        Panicked = "panicked",
        Cancelled = "cancelled",
        TimedOut = "timed_out",
        /// The caller hung up before the answer.
        CallerGone = "caller_gone",
        DryRun = "dry_run",
    }
}

impl Ending {
    /// The `success` of specification 002: a preview that was shown counts, a refusal does not.
    pub fn is_success(self) -> bool {
        match self {
            Ending::Success | Ending::DryRun => true,
            Ending::Denied
            | Ending::AskedNobody
            | Ending::Failed
            | Ending::Panicked
            | Ending::Cancelled
            | Ending::TimedOut
            | Ending::CallerGone => false,
        }
    }
}
