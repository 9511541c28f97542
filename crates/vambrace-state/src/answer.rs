//! How a store is asked: every answer may come later, and none is waited for without a limit.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

/// What a store answers. It borrows nothing but the store: arguments are used before it is
/// returned. A store that blocks its thread does so before it returns as well, where callers have
/// told the runtime that the thread may be held.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, StateError>> + Send + 'a>>;

/// LIMIT: of one wait for a store.
pub const TIMEOUT: Duration = Duration::from_secs(2);

/// Why there is no answer. Whether the store did what it was asked to is then unknown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// `why` is for operators, and names no host and no credential.
    #[error("the state is away: {why}")]
    Away { why: String },
    #[error("the state did not answer within {limit:?}")]
    Late { limit: Duration },
}

/// The answer of a store that has it at hand.
pub fn ready<'a, T: Send + 'a>(value: T) -> Answer<'a, T> {
    Box::pin(std::future::ready(Ok(value)))
}

/// INVARIANT: whoever asks a store waits here. An answer that is there at once needs no clock; the
/// clock of the others is in a box, so that the futures of all requests stay small.
pub async fn within<T>(limit: Duration, mut answer: Answer<'_, T>) -> Result<T, StateError> {
    match poll_fn(|context| Poll::Ready(answer.as_mut().poll(context))).await {
        Poll::Ready(answer) => answer,
        Poll::Pending => {
            Box::pin(tokio::time::timeout(limit, answer)).await.unwrap_or(Err(StateError::Late { limit }))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready as at_once};

    use super::*;

    async fn check(answer: Answer<'_, u8>, expected: Result<u8, StateError>, took: Duration) {
        let began = tokio::time::Instant::now();
        assert_eq!(within(TIMEOUT, answer).await, expected);
        assert_eq!(began.elapsed(), took, "{expected:?}");
    }

    fn after(time: Duration) -> Answer<'static, u8> {
        Box::pin(async move {
            tokio::time::sleep(time).await;
            Ok(1)
        })
    }

    #[tokio::test(start_paused = true)]
    async fn every_wait_has_a_limit() {
        let ms = Duration::from_millis(1);
        let away = StateError::Away { why: "connection refused".to_owned() };
        check(ready(1), Ok(1), Duration::ZERO).await;
        check(Box::pin(at_once(Err(away.clone()))), Err(away), Duration::ZERO).await;
        check(after(TIMEOUT - ms), Ok(1), TIMEOUT - ms).await;
        check(after(TIMEOUT + ms), Err(StateError::Late { limit: TIMEOUT }), TIMEOUT).await;
        check(Box::pin(pending()), Err(StateError::Late { limit: TIMEOUT }), TIMEOUT).await;
    }

    #[test]
    fn what_is_there_needs_no_runtime() {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let mut asking = std::pin::pin!(within(TIMEOUT, ready(7)));
        assert_eq!(asking.as_mut().poll(&mut context), Poll::Ready(Ok(7)));
    }
}
