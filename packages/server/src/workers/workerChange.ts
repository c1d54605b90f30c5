import type { LiveEvent } from "@scheduling/domain/events/Event"
import { WorkerId } from "@scheduling/domain/shared/Ids"
import type { Change } from "../events/index.ts"

export interface ChangedWorker {
  readonly id: string
  readonly workspace_id: string
}

/** Returns a function that describes what happened to a worker, for live events. */
export const workerChange =
  (type: Extract<LiveEvent["type"], `worker.${string}`>) =>
  ({ id }: ChangedWorker): Change => ({ type, data: { worker: { id: WorkerId.make(id) } } })
