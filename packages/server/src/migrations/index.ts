import accounts from "./0001_accounts.ts"
import runs from "./0002_runs.ts"
import executionStats from "./0003_execution_stats.ts"

/** In order, never edited once released. */
export const migrations = {
  "0001_accounts": accounts,
  "0002_runs": runs,
  "0003_execution_stats": executionStats
}
