//! What was really enforced. A value one must look at; it does not turn into a boolean.

/// How much of the promised isolation stood around an effect, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Enforcement {
    /// Nothing was enforced.
    None,
    /// On the host by design: argument vectors fixed by us, no cage.
    Host,
    /// Some layers were missing.
    Partial,
    /// Every layer that the policy asks for.
    Full,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooWeak {
    pub required: Enforcement,
    pub available: Enforcement,
}

impl Enforcement {
    pub fn as_str(self) -> &'static str {
        match self {
            Enforcement::None => "none",
            Enforcement::Host => "host",
            Enforcement::Partial => "partial",
            Enforcement::Full => "full",
        }
    }

    /// Less than required is a refusal, not a warning.
    pub fn require(self, required: Enforcement) -> Result<Enforcement, TooWeak> {
        if self < required {
            return Err(TooWeak { required, available: self });
        }
        Ok(self)
    }
}
