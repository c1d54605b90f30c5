import {
  ConnectionError,
  type ExecutionKind,
  type LiveEvent,
  type WorkspaceId
} from "@scheduling/sdk"
import { useEffect } from "react"
import { clientOf } from "./client.ts"
import { createStore } from "../ui/store.ts"
import { queries } from "./queries.ts"
import { latestServerTime } from "./serverTime.ts"

/** Queries are fetched again this long after the first of several events. */
const gatherMs = 400

/** Statistics cost more than a list, so they are fetched less often. */
const statsMs = 1_500

/** The wait after a refusal, such as too many streams. */
const refusedMs = 30_000

/** The wait after the service could not be reached. */
const unreachableMs = 3_000

/** A list with more pages is not fetched again, because each refetch reads all of its pages. */
const maxPages = 3

const nounOfTask = (kind: ExecutionKind) => (kind === "chain" ? "chains" : kind)

/** The parts of query keys whose data an event changes. */
const nounsOf = (event: LiveEvent): ReadonlyArray<string> => {
  const { data, type } = event
  if ("task" in data) return [nounOfTask(data.task.kind), "names"]
  if ("execution" in data) return ["executions", nounOfTask(data.execution.kind)]
  if ("incident" in data) return ["monitors", "incidents"]
  if ("monitor" in data) {
    // A monitor that goes down or comes back keeps its name.
    const isEdited = type === "monitor.updated" || type === "monitor.deleted"
    return ["monitors", "incidents", ...(isEdited ? ["monitor-names"] : [])]
  }
  if ("worker" in data) return ["workers"]
  return []
}

/** A hidden tab fetches again when it is shown. */
const refetchTypeNow = () => (document.hidden ? "none" : "active")

/** Fetches the queries of some nouns again, or all of them without `nouns`. */
const refetch = (workspaceId: WorkspaceId, nouns: ReadonlySet<string> | undefined) =>
  queries.invalidateQueries({
    refetchType: refetchTypeNow(),
    predicate: ({ queryKey: [scope, id, noun, what], state }) => {
      if (scope !== "w" || id !== workspaceId) return false
      // Statistics have a refetch of their own.
      if (what === "stats" && nouns !== undefined) return false
      if (nouns?.has(String(noun)) === false) return false
      const { pages } = (state.data ?? {}) as { readonly pages?: ReadonlyArray<unknown> }
      return (pages?.length ?? 0) <= maxPages
    }
  })

/** Fetches the shown statistics of tasks whose runs have finished. */
const refetchStats = (workspaceId: WorkspaceId, taskIds: ReadonlySet<string>) =>
  queries.invalidateQueries({
    type: "active",
    refetchType: refetchTypeNow(),
    predicate: ({ queryKey: [scope, id, noun, what, query] }) => {
      const { task_id } = (query ?? {}) as { readonly task_id?: string }
      return (
        scope === "w" &&
        id === workspaceId &&
        noun === "executions" &&
        what === "stats" &&
        task_id !== undefined &&
        taskIds.has(task_id)
      )
    }
  })

/** The state of the event stream. It is unknown before the first attempt and in a hidden tab. */
type Connection = "unknown" | "live" | "away"

const connection = createStore<Connection>("unknown")

/** True while live events keep the page up to date. */
export const useIsLive = (): boolean => connection.use() === "live"

/** True while the service cannot be reached. */
export const useIsAway = (): boolean => connection.use() === "away"

/** The SDK reopens a broken stream silently, so the state is taken from each of its attempts. */
const watched = async (url: string, init: RequestInit): Promise<Response> => {
  try {
    const answer = await fetch(url, init)
    // A proxy answers with 5xx while the service is away.
    connection.set(answer.ok ? "live" : answer.status >= 500 ? "away" : "unknown")
    return answer
  } catch (error) {
    if (init.signal?.aborted !== true) connection.set("away")
    throw error
  }
}

/** The id of the last event by workspace, or a time before its first request. */
const lastEventIds = new Map<WorkspaceId, string>()

/** Makes the stream begin with the events from now on. It opens after the first requests. */
export const followFromNow = (workspaceId: WorkspaceId): void => {
  // An id that is neither an event nor a time leads to a reset, so nothing is missed.
  if (!lastEventIds.has(workspaceId)) {
    lastEventIds.set(workspaceId, latestServerTime() ?? "unknown")
  }
}

const executionOf = ({ data }: LiveEvent) => ("execution" in data ? data.execution : null)

const isUnfinished = (status: string) => status === "queued" || status === "running"

const follow = async (workspaceId: WorkspaceId, signal: AbortSignal) => {
  const nouns = new Set<string>()
  const finished = new Set<string>()
  let isReset = false
  let timer: number | undefined
  let statsTimer: number | undefined
  const gather = (event: LiveEvent) => {
    isReset ||= event.type === "reset"
    for (const noun of nounsOf(event)) nouns.add(noun)
    const execution = executionOf(event)
    if (execution !== null && !isUnfinished(execution.status)) {
      finished.add(execution.task_id)
      statsTimer ??= window.setTimeout(() => {
        statsTimer = undefined
        void refetchStats(workspaceId, new Set(finished))
        finished.clear()
      }, statsMs)
    }
    timer ??= window.setTimeout(() => {
      timer = undefined
      void refetch(workspaceId, isReset ? undefined : new Set(nouns))
      nouns.clear()
      isReset = false
    }, gatherMs)
  }
  const { events } = clientOf(workspaceId).withOptions({ fetch: watched })
  const lastEventId = lastEventIds.get(workspaceId)
  for await (const event of events.stream({ signal, lastEventId })) {
    lastEventIds.set(workspaceId, event.id)
    gather(event)
  }
}

/** Keeps the queries of a workspace up to date. A hidden tab holds no connection. */
export const useLive = (workspaceId: WorkspaceId | undefined): void => {
  useEffect(() => {
    if (workspaceId === undefined) return
    let stop: AbortController | undefined
    let again: number | undefined
    const start = () => {
      window.clearTimeout(again)
      stop?.abort()
      stop = undefined
      if (connection.get() === "live" || document.hidden) connection.set("unknown")
      if (document.hidden) return
      const own = new AbortController()
      stop = own
      follow(workspaceId, own.signal).catch((error: unknown) => {
        if (own.signal.aborted) return
        const isAway = error instanceof ConnectionError
        connection.set(isAway ? "away" : "unknown")
        again = window.setTimeout(start, isAway ? unreachableMs : refusedMs)
      })
    }
    start()
    document.addEventListener("visibilitychange", start)
    return () => {
      document.removeEventListener("visibilitychange", start)
      window.clearTimeout(again)
      stop?.abort()
      connection.set("unknown")
    }
  }, [workspaceId])
}
