import { type FlowInput, flowDefaults } from "@scheduling/domain/queues/Flow"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { Effect } from "effect"
import { flowPartsOf, type TaskFlowColumns } from "../engine/index.ts"

interface GivenFlow {
  readonly flow?: FlowInput | null
}

/** Returns the columns for the flow that a definition or a change contains, if any. */
export const flowColumns = ({ flow }: GivenFlow): Partial<TaskFlowColumns> => {
  if (flow === undefined) return {}
  if (flow === null) return { flow: null, flow_parts: null }
  return { flow: { ...flowDefaults, ...flow }, flow_parts: flowPartsOf(flow.key) }
}

/**
 * Fails if a task has both a queue and a flow. This is checked after a change, which may contain
 * only one of them.
 */
export const checkFlow = ({
  flow,
  queue_id
}: Partial<Pick<TaskFlowColumns, "flow">> & { readonly queue_id?: string | null }) =>
  flow == null || queue_id == null
    ? Effect.void
    : Effect.fail(
        ValidationFailed.at(
          ["flow"],
          "invalid",
          "must not be given together with a queue: set queue_id or flow to null"
        )
      )
