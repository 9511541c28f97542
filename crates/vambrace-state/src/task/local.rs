//! The tasks of this process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::broadcast;
use vambrace_auth::Moment;
use vambrace_types::credential_of;

use super::{Edit, Followed, Full, News, Room, TaskBounds, TaskRecord, TaskStore};
use crate::{Answer, ready};

/// A run has four events; who lags behind more of them misses the oldest.
const MOST_NEWS: usize = 16;

#[derive(Debug)]
pub struct LocalTasks {
    bounds: TaskBounds,
    tasks: Mutex<Tasks>,
}

#[derive(Debug, Default)]
struct Tasks {
    kept: BTreeMap<String, Kept>,
    /// Grows with every change, so that changes have an order.
    n_changes: u64,
}

#[derive(Debug)]
struct Kept {
    record: Arc<TaskRecord>,
    /// Gone when the task is over.
    news: Option<broadcast::Sender<News>>,
    touched: Moment,
    change: u64,
    n_bytes: usize,
}

impl LocalTasks {
    pub fn new(bounds: TaskBounds) -> LocalTasks {
        LocalTasks { bounds, tasks: Mutex::default() }
    }

    /// Without those that are too old.
    fn tasks(&self, now: Moment) -> MutexGuard<'_, Tasks> {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        let life = self.bounds.life;
        tasks.kept.retain(|_, kept| kept.record.is_live() || now.saturating_sub(kept.touched) < life);
        tasks
    }
}

impl TaskStore for LocalTasks {
    fn open(&self, record: TaskRecord, now: Moment) -> Answer<'_, Result<broadcast::Receiver<News>, Full>> {
        let mut tasks = self.tasks(now);
        let n_bytes = record.n_bytes();
        ready(tasks.make_room(&record.owner, n_bytes, self.bounds).map(|()| {
            let (sender, news) = broadcast::channel(MOST_NEWS);
            let change = tasks.next_change();
            let id = record.task.id.clone();
            let record = Arc::new(record);
            tasks.kept.insert(id, Kept { record, news: Some(sender), touched: now, change, n_bytes });
            news
        }))
    }

    fn view(&self, owner: &str, id: &str, now: Moment) -> Answer<'_, Option<Arc<TaskRecord>>> {
        ready(self.tasks(now).of(owner, id).map(|kept| Arc::clone(&kept.record)))
    }

    fn follow(&self, owner: &str, id: &str, now: Moment) -> Answer<'_, Option<Followed>> {
        ready(self.tasks(now).of(owner, id).map(|kept| Followed {
            record: Arc::clone(&kept.record),
            news: kept.news.as_ref().map(broadcast::Sender::subscribe),
        }))
    }

    fn all_of(&self, owner: &str, now: Moment) -> Answer<'_, Vec<(u64, Arc<TaskRecord>)>> {
        let tasks = self.tasks(now);
        let own = tasks.kept.values().filter(|kept| kept.record.owner == owner);
        let mut found: Vec<_> = own.map(|kept| (kept.change, Arc::clone(&kept.record))).collect();
        found.sort_by_key(|(change, _)| std::cmp::Reverse(*change));
        ready(found)
    }

    fn change<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
        room: Room,
        now: Moment,
        edit: &'a mut (dyn FnMut(&mut TaskRecord) -> Option<Edit> + Send),
    ) -> Answer<'a, Option<Result<Arc<TaskRecord>, Full>>> {
        ready(self.tasks(now).change((owner, id), room, now, self.bounds, edit))
    }
}

impl Kept {
    fn edited(&mut self, record: TaskRecord, edit: Edit, now: Moment, change: u64) {
        self.n_bytes = record.n_bytes();
        self.record = Arc::new(record);
        if edit.is_step {
            self.touched = now;
            self.change = change;
        }
        if let (Some(sender), Some(news)) = (&self.news, edit.news) {
            // Nobody may be listening.
            let _ = sender.send(news);
        }
        if self.record.is_over() {
            self.news = None;
        }
    }
}

impl Tasks {
    fn next_change(&mut self) -> u64 {
        self.n_changes += 1;
        self.n_changes
    }

    /// INVARIANT: the only way to one task; the owner is asked for first. THREAT: P13.
    fn of(&mut self, owner: &str, id: &str) -> Option<&mut Kept> {
        self.kept.get_mut(id).filter(|kept| kept.record.owner == owner)
    }

    fn change(
        &mut self,
        (owner, id): (&str, &str),
        room: Room,
        now: Moment,
        bounds: TaskBounds,
        edit: &mut dyn FnMut(&mut TaskRecord) -> Option<Edit>,
    ) -> Option<Result<Arc<TaskRecord>, Full>> {
        let before = Arc::clone(&self.of(owner, id)?.record);
        let mut record = TaskRecord::clone(&before);
        let Some(edit) = edit(&mut record) else { return Some(Ok(before)) };
        if let Room::Demanded(more) = room
            && let Err(full) = self.make_bytes(owner, Some(id), more, bounds)
        {
            return Some(Err(full));
        }
        let change = self.next_change();
        let kept = self.of(owner, id)?;
        kept.edited(record, edit, now, change);
        let record = Arc::clone(&kept.record);
        if room == Room::Granted {
            self.shrink(owner, id, bounds);
        }
        Some(Ok(record))
    }

    fn make_room(&mut self, owner: &str, n_bytes: usize, bounds: TaskBounds) -> Result<(), Full> {
        let own = || self.kept.values().filter(|kept| kept.record.owner == owner);
        if own().filter(|kept| kept.record.is_live()).count() >= bounds.live_per_owner {
            return Err(Full::Number);
        }
        if own().count() >= bounds.per_owner && !self.drop_oldest(owner, None) {
            return Err(Full::Number);
        }
        // THREAT: P12, who has the most gives way: one caller's flood does not take what others
        // have.
        if self.kept.len() >= bounds.in_all {
            let owner = self.largest(|_| 1).ok_or(Full::Number)?;
            if !self.drop_oldest(&owner, None) {
                return Err(Full::Number);
            }
        }
        self.make_bytes(owner, None, n_bytes, bounds)
    }

    /// Room for so many more bytes of this owner. What is over gives way, oldest first; what is at
    /// work does not.
    fn make_bytes(
        &mut self,
        owner: &str,
        except: Option<&str>,
        more: usize,
        bounds: TaskBounds,
    ) -> Result<(), Full> {
        // LIMIT: what would never fit drops nothing.
        if more > bounds.bytes_per_owner {
            return Err(Full::Bytes);
        }
        while self.held(Some(owner)) + more > bounds.bytes_per_owner {
            if !self.drop_oldest(owner, except) {
                return Err(Full::Bytes);
            }
        }
        while self.held(None) + more > bounds.bytes_in_all {
            let largest = self.largest(|kept| kept.n_bytes).ok_or(Full::Bytes)?;
            if !self.drop_oldest(&largest, except) {
                return Err(Full::Bytes);
            }
        }
        Ok(())
    }

    fn shrink(&mut self, owner: &str, fresh: &str, bounds: TaskBounds) {
        while self.held(Some(owner)) > bounds.bytes_per_owner && self.drop_oldest(owner, Some(fresh)) {}
        while self.held(None) > bounds.bytes_in_all {
            let Some(owner) = self.largest(|kept| kept.n_bytes) else { return };
            if !self.drop_oldest(&owner, Some(fresh)) {
                return;
            }
        }
    }

    /// Bytes of this owner, or in all.
    fn held(&self, of: Option<&str>) -> usize {
        let counted = self.kept.values().filter(|kept| of.is_none_or(|owner| kept.record.owner == owner));
        counted.map(|kept| kept.n_bytes).sum()
    }

    /// Who has the most, of those behind the credential that has the most: whoever may say for whom
    /// it calls could otherwise divide itself into many small ones.
    fn largest(&self, weight: impl Fn(&Kept) -> usize) -> Option<String> {
        let mut credentials: BTreeMap<&str, usize> = BTreeMap::new();
        let mut owners: BTreeMap<&str, (usize, bool)> = BTreeMap::new();
        for kept in self.kept.values() {
            let owner = kept.record.owner.as_str();
            *credentials.entry(credential_of(owner)).or_default() += weight(kept);
            let (held, gives) = owners.entry(owner).or_default();
            *held += weight(kept);
            *gives |= !kept.record.is_live();
        }
        // Only those who have something that may go: what is at work does not.
        let givers = owners.into_iter().filter(|(_, (_, gives))| *gives);
        let largest = givers.max_by_key(|(owner, (held, _))| (credentials.get(credential_of(owner)), *held));
        largest.map(|(owner, _)| owner.to_owned())
    }

    /// The owner's oldest task that is not at work.
    fn drop_oldest(&mut self, owner: &str, except: Option<&str>) -> bool {
        let idle = self.kept.iter().filter(|(id, kept)| {
            kept.record.owner == owner && !kept.record.is_live() && Some(id.as_str()) != except
        });
        let oldest = idle.min_by_key(|(_, kept)| kept.change).map(|(id, _)| id.clone());
        oldest.and_then(|id| self.kept.remove(&id)).is_some()
    }
}
