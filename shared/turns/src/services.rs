use std::ops::Deref;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use agent::TurnRecorderFactory;
use attachments::Attachments;
use domain::{ErrorCode, Groups, Owner, TurnError, Usage};
use futures_util::future::join_all;
use redaction::Redactor;
use store::{Day, Store, TurnRef, TurnUsage, UsageScope};
use tokio::time::timeout;
use work::FairSlot;

use crate::admission::{AdmissionGate, TurnLimits};
use crate::registry::TurnRegistry;
use crate::telemetry::{Metrics, Traces};

/// Timeout for recovering the text of a turn that died, which the next turn can do without.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(2);

/// The services that turns use: the store, limits, telemetry and the registry. Clones share them.
#[derive(Clone)]
pub struct TurnServices(Arc<Shared>);

/// The parts from which the services are assembled.
pub struct ServiceParts {
    /// The tables.
    pub store: Store,
    /// The files of messages; `None` where no place for them is configured.
    pub attachments: Option<Attachments>,
    /// Which turns may start.
    pub limits: TurnLimits,
    /// Where metrics are written.
    pub metrics: Metrics,
    /// Where traces are sent.
    pub traces: Traces,
    /// Replaces personal data in requests to tools' hosts, and in records of calls.
    pub redactor: Redactor,
    /// Records turns, if set.
    pub recorder: Option<Arc<dyn TurnRecorderFactory>>,
}

/// The parts, and the state of this process.
pub struct Shared {
    parts: ServiceParts,
    /// The turns of this process.
    pub registry: TurnRegistry,
    gate: AdmissionGate,
}

impl TurnServices {
    /// Assembles the services; makes no call.
    pub fn new(parts: ServiceParts) -> Self {
        Self(Arc::new(Shared { parts, registry: TurnRegistry::default(), gate: AdmissionGate::default() }))
    }

    /// Admits a turn, or a request that counts as one. The permit is held while it starts; with it come the owner's
    /// instructions, `None` if they could not be read.
    ///
    /// # Errors
    /// `interrupted` while the process shuts down; that of the limit or budget of the owner or a group that is exhausted.
    pub async fn admit(&self, owner: &Owner, groups: &Groups) -> Result<(FairSlot<Owner>, Option<String>), TurnError> {
        let permit = self.0.gate.acquire(owner).await?;
        if self.registry.is_shutting_down() {
            return Err(ErrorCode::Interrupted.into());
        }
        let instructions = self.limits.check(&self.store, owner, groups, SystemTime::now()).await?;
        Ok((permit, instructions))
    }

    /// Adds the usage of a request that counts as a turn to the day's totals. A failure to write them does not fail it.
    pub async fn record_request(&self, owner: &Owner, groups: &Groups, model: &str, usage: &Usage) {
        let (ledger, day) = (&self.store.ledger, Day::of(SystemTime::now()));
        let turn = TurnUsage { usage, model, groups, is_task: false };
        let of_groups = self.limits.budgets.of_groups(groups).map(|(name, _)| UsageScope::Group(name));
        let scopes = of_groups.chain([UsageScope::Global, UsageScope::User(owner)]);
        let added = join_all(scopes.map(|scope| ledger.add(scope, day, &turn)));
        let (added, listed) = tokio::join!(added, ledger.list_owner(owner, day));
        if let Err(error) = added.into_iter().collect::<Result<(), _>>().and(listed) {
            tracing::warn!(%error, "the usage of a request could not be recorded");
        }
    }

    /// Recovers the text of a turn that died before another one, so that the history has it.
    pub(crate) async fn recover_turn(&self, owner: &Owner, turn: &TurnRef) {
        let recovered = self.store.recover_turn(owner, turn, SystemTime::now());
        if !matches!(timeout(RECOVERY_TIMEOUT, recovered).await, Ok(Ok(_))) {
            tracing::warn!(turn = %turn.turn_id, "an interrupted answer was not recovered");
        }
    }
}

impl Deref for TurnServices {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl Deref for Shared {
    type Target = ServiceParts;

    fn deref(&self) -> &ServiceParts {
        &self.parts
    }
}
