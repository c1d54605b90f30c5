import accounts from "./0001_accounts.ts"
import runs from "./0002_runs.ts"
import executionStats from "./0003_execution_stats.ts"
import monitors from "./0004_monitors.ts"
import notifications from "./0005_notifications.ts"
import people from "./0006_people.ts"
import workers from "./0007_workers.ts"
import billing from "./0008_billing.ts"
import queues from "./0009_queues.ts"
import calendars from "./0010_calendars.ts"
import completions from "./0011_completions.ts"
import successors from "./0012_successors.ts"
import absences from "./0013_absences.ts"
import missedRecoveries from "./0014_missed_recoveries.ts"
import endedDeliveries from "./0015_ended_deliveries.ts"
import endedTasks from "./0016_ended_tasks.ts"
import movingRuns from "./0017_moving_runs.ts"
import proofs from "./0018_proofs.ts"
import receivers from "./0019_receivers.ts"
import refusals from "./0020_refusals.ts"
import appSecret from "./0021_app_secret.ts"
import auditMacs from "./0023_audit_macs.ts"
import countedUsage from "./0024_counted_usage.ts"
import accountsOfCredentials from "./0026_accounts_of_credentials.ts"
import firedAhead from "./0028_fired_ahead.ts"

/** In order. A migration is never edited once released. */
export const migrations = {
  "0001_accounts": accounts,
  "0002_runs": runs,
  "0003_execution_stats": executionStats,
  "0004_monitors": monitors,
  "0005_notifications": notifications,
  "0006_people": people,
  "0007_workers": workers,
  "0008_billing": billing,
  "0009_queues": queues,
  "0010_calendars": calendars,
  "0011_completions": completions,
  "0012_successors": successors,
  "0013_absences": absences,
  "0014_missed_recoveries": missedRecoveries,
  "0015_ended_deliveries": endedDeliveries,
  "0016_ended_tasks": endedTasks,
  "0017_moving_runs": movingRuns,
  "0018_proofs": proofs,
  "0019_receivers": receivers,
  "0020_refusals": refusals,
  "0021_app_secret": appSecret,
  "0023_audit_macs": auditMacs,
  "0024_counted_usage": countedUsage,
  "0026_accounts_of_credentials": accountsOfCredentials,
  "0028_fired_ahead": firedAhead
}
