import type { CronTask, FlowInput, QueueId } from "@scheduling/sdk"

/** The queue or flow that limits the runs, as form values. Empty strings mean no limit. */
export interface LimitValues {
  readonly limited_by: "nothing" | "queue" | "flow"
  readonly queue_id: QueueId | null
  readonly flow: {
    readonly key: string
    readonly max_concurrency: string
    readonly rate_per_second: string
    readonly fifo: boolean
  }
  readonly priority: string
}

type Limits = Pick<CronTask, "flow" | "priority" | "queue_id">

export const limitValuesOf = ({ flow, priority, queue_id }: Limits): LimitValues => ({
  limited_by: flow !== null ? "flow" : queue_id !== null ? "queue" : "nothing",
  queue_id,
  flow: {
    key: flow?.key ?? "",
    max_concurrency: flow === null ? "1" : String(flow.max_concurrency ?? ""),
    rate_per_second: String(flow?.rate_per_second ?? ""),
    fifo: flow?.fifo ?? false
  },
  priority: String(priority)
})

export const limitInputOf = ({ flow, limited_by, priority, queue_id }: LimitValues) => ({
  queue_id: limited_by === "queue" ? queue_id : null,
  flow: limited_by === "flow" ? flowInputOf(flow) : null,
  priority: Number(priority)
})

const flowInputOf = (flow: LimitValues["flow"]): FlowInput => ({
  key: flow.key.trim(),
  max_concurrency: numberOrNull(flow.max_concurrency),
  rate_per_second: numberOrNull(flow.rate_per_second),
  fifo: flow.fifo
})

export const numberOrNull = (text: string) => (text.trim() === "" ? null : Number(text))
