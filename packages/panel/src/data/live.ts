import {
  ConnectionError,
  type ExecutionKind,
  type LiveEvent,
  type WorkspaceId
} from "@scheduling/sdk"
import type { Query, QueryFilters } from "@tanstack/react-query"
import { useEffect } from "react"
import { clientOf } from "./client.ts"
import { createStore } from "../ui/store.ts"
import { queryClient, workspacesOptions } from "./queries.ts"
import { latestServerTime } from "./serverTime.ts"

/** The delay between the first event of a batch and the refetch. */
const batchDelayMs = 400

/** The delay for statistics. It is longer, because statistics cost more to compute than lists. */
const statsMs = 1_500

/** The delay before reconnecting after an error response, such as one for too many streams. */
const errorRetryMs = 30_000

/** The delay before reconnecting after a network error. */
const unreachableRetryMs = 3_000

/**
 * The maximum number of loaded pages in a list that is refetched. A refetch reads all loaded pages.
 */
const maxPages = 3

const nounOfTask = (kind: ExecutionKind) => (kind === "chain" ? "chains" : kind)

/** Returns the query key segments whose data an event changes. */
const nounsOf = (event: LiveEvent): ReadonlyArray<string> => {
  const { data, type } = event
  // The timeline shows pauses. A delayed task has none, and programs create many of them.
  if ("task" in data) {
    const { kind } = data.task
    return [nounOfTask(kind), "names", ...(kind === "delayed" ? [] : ["timeline"])]
  }
  if ("execution" in data) return ["executions", nounOfTask(data.execution.kind)]
  if ("incident" in data) return ["monitors", "incidents"]
  if ("monitor" in data) {
    // A status change does not affect a monitor's name.
    const isEdited = type === "monitor.updated" || type === "monitor.deleted"
    const { status } = data.monitor
    const isPauseOrResume = status === "paused" || status === "new"
    return [
      "monitors",
      "incidents",
      ...(isEdited ? ["monitor-names"] : []),
      ...(isPauseOrResume ? ["timeline"] : [])
    ]
  }
  if ("queue" in data) return ["queues"]
  if ("worker" in data) return ["workers"]
  return []
}

/** Hidden tabs refetch when they become visible. */
const refetchTypeNow = () => (document.hidden ? "none" : "active")

/** The queries that are refetched once their current request has finished. */
const waiting = new Set<Query>()

/**
 * Refetches the matching queries. A request in progress may have read the data before the change,
 * so a query that is being fetched is fetched again afterwards. Its request is not cancelled,
 * because with frequent events and a slow network no request would ever finish.
 */
const refetchMatching = (filters: QueryFilters) => {
  for (const query of queryClient.getQueryCache().findAll(filters)) {
    if (!waiting.has(query)) void refetchAfterCurrentRequest(query)
  }
}

const refetchAfterCurrentRequest = async (query: Query) => {
  if (query.state.fetchStatus === "fetching") {
    waiting.add(query)
    await query.promise?.catch(() => undefined)
    waiting.delete(query)
  }
  await queryClient.invalidateQueries({
    queryKey: query.queryKey,
    exact: true,
    refetchType: refetchTypeNow()
  })
}

/** Refetches the queries for the given nouns, or all queries if `nouns` is undefined. */
const refetch = (workspaceId: WorkspaceId, nouns: ReadonlySet<string> | undefined) => {
  // Refetch the workspace list too, because it says which workspaces are stopped.
  if (nouns === undefined) {
    const { queryKey } = workspacesOptions
    void queryClient.invalidateQueries({ queryKey, refetchType: refetchTypeNow() })
  }
  refetchMatching({
    predicate: ({ queryKey: [scope, id, noun, what], state }) => {
      if (scope !== "w" || id !== workspaceId) return false
      // Statistics are refetched by `refetchStats`, after a longer delay.
      if (what === "stats" && nouns !== undefined) return false
      if (nouns?.has(String(noun)) === false) return false
      const { pages } = (state.data ?? {}) as { readonly pages?: ReadonlyArray<unknown> }
      return (pages?.length ?? 0) <= maxPages
    }
  })
}

/** Refetches the visible statistics of tasks whose runs have finished. */
const refetchStats = (workspaceId: WorkspaceId, taskIds: ReadonlySet<string>) =>
  refetchMatching({
    type: "active",
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

/**
 * The state of the event stream. It is unknown before the first connection attempt and in a hidden
 * tab.
 */
type Connection = "unknown" | "live" | "away"

const connection = createStore<Connection>("unknown")

/** True while live events keep the page up to date. */
export const useIsLive = (): boolean => connection.use() === "live"

/** True while the service cannot be reached. */
export const useIsUnreachable = (): boolean => connection.use() === "away"

/**
 * Fetches the event stream and tracks its state. The SDK reopens a broken stream silently, so each
 * connection attempt is observed here.
 */
const fetchEventStream = async (url: string, init: RequestInit): Promise<Response> => {
  try {
    const answer = await fetch(url, init)
    // A proxy responds with 5xx while the service is unreachable.
    connection.set(answer.ok ? "live" : answer.status >= 500 ? "away" : "unknown")
    return answer
  } catch (error) {
    if (init.signal?.aborted !== true) connection.set("away")
    throw error
  }
}

/**
 * The id of each workspace's last event. Before the first event, a time earlier than the first data
 * request.
 */
const lastEventIds = new Map<WorkspaceId, string>()

/**
 * Makes the stream start with events from now on. The stream opens only after the first data
 * requests, so it would otherwise miss events in between.
 */
export const followFromNow = (workspaceId: WorkspaceId): void => {
  // "unknown" is neither an event id nor a time, so the service sends a reset and no event is
  // missed.
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
        refetchStats(workspaceId, new Set(finished))
        finished.clear()
      }, statsMs)
    }
    timer ??= window.setTimeout(() => {
      timer = undefined
      refetch(workspaceId, isReset ? undefined : new Set(nouns))
      nouns.clear()
      isReset = false
    }, batchDelayMs)
  }
  const { events } = clientOf(workspaceId).withOptions({ fetch: fetchEventStream })
  const lastEventId = lastEventIds.get(workspaceId)
  for await (const event of events.stream({ signal, lastEventId })) {
    lastEventIds.set(workspaceId, event.id)
    gather(event)
  }
}

/** Keeps a workspace's queries up to date with live events. Hidden tabs close the connection. */
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
        again = window.setTimeout(start, isAway ? unreachableRetryMs : errorRetryMs)
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
