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
import proofs from "./0012_proofs.ts"
import receivers from "./0013_receivers.ts"
import refusals from "./0014_refusals.ts"

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
  "0012_proofs": proofs,
  "0013_receivers": receivers,
  "0014_refusals": refusals
}
