import type { Settlement } from "../../../src/runner/Run.ts"

/** A run that succeeded. */
export const settlement = (
  fields: Partial<Settlement> & Pick<Settlement, "id" | "workspace_id">
): Settlement => ({
  delayed_task_id: null,
  attempt: 1,
  lease_owner: null,
  status: "succeeded",
  retry_delay_ms: null,
  lost: false,
  started: true,
  started_ms: Date.now(),
  finished_ms: Date.now(),
  status_code: 200,
  response_body: null,
  error: null,
  place: null,
  ...fields
})
