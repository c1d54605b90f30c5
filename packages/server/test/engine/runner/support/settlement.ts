import { executionError } from "@scheduling/domain/executions/ExecutionError"
import type { Settlement } from "../../../../src/engine/Run.ts"

/** Creates the settlement for a run that succeeded. */
export const settlement = (
  fields: Partial<Settlement> & Pick<Settlement, "id" | "workspace_id">
): Settlement => ({
  task_id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40",
  kind: "cron",
  attempt: 1,
  lease_owner: null,
  awaited: false,
  row_at: null,
  status: "succeeded",
  retry_delay_ms: null,
  completes_by_ms: null,
  pause: null,
  lost: false,
  started: true,
  started_ms: Date.now(),
  finished_ms: Date.now(),
  status_code: 200,
  response_body: null,
  exchange: null,
  error:
    fields.status === "failed" || fields.status === null
      ? executionError("internal", "as the test says")
      : null,
  position: null,
  ...fields
})
