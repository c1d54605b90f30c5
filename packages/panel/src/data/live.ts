import { ConnectionError, type LiveEvent, type WorkspaceId } from "@scheduling/sdk"
import { useEffect, useSyncExternalStore } from "react"
import { clientOf } from "./client.ts"
import { queries } from "./queries.ts"
import { passedMoment } from "./serverTime.ts"

/** What is shown of a workspace is asked for again this long after something changed. */
const gatherMs = 400

/** Figures cost more than a list: those of a task are asked for at most this often. */
const figuresMs = 1_500

/** After a refusal, such as too many streams. */
const restMs = 30_000

/** After an attempt that did not reach the service. */
const retryMs = 3_000

/** A list of which more was read is left as it is: it would be read again from its beginning. */
const maxPages = 3

/** The nouns of which an event changes something. */
const nounsOf = (event: LiveEvent): ReadonlyArray<string> => {
  if (event.type === "execution") {
    return ["executions", event.kind === "chain" ? "chains" : event.kind]
  }
  if (event.type === "task") return [event.kind === "chain" ? "chains" : event.kind, "names"]
  if (event.type === "incident") return ["monitors", "incidents"]
  if (event.type === "monitor") {
    // A name is as it was when its monitor goes down or comes back.
    const isEdited = event.change === "updated" || event.change === "deleted"
    return ["monitors", "incidents", ...(isEdited ? ["monitor-names"] : [])]
  }
  if (event.type === "worker") return ["workers"]
  return []
}

/** What is out of date in a hidden tab is asked for when somebody looks again. */
const whoIsAsked = () => (document.hidden ? "none" : "active")

/** Without nouns: whatever is shown. */
const askAgain = (workspaceId: WorkspaceId, nouns: ReadonlySet<string> | undefined) =>
  queries.invalidateQueries({
    refetchType: whoIsAsked(),
    predicate: ({ queryKey: [scope, id, noun, what], state }) => {
      if (scope !== "w" || id !== workspaceId) return false
      // They cost more than a list, and look after themselves.
      if (what === "stats" && nouns !== undefined) return false
      if (nouns?.has(String(noun)) === false) return false
      const { pages } = (state.data ?? {}) as { readonly pages?: ReadonlyArray<unknown> }
      return (pages?.length ?? 0) <= maxPages
    }
  })

/** The figures of tasks whose runs have ended, where they are shown. */
const askForFigures = (workspaceId: WorkspaceId, taskIds: ReadonlySet<string>) =>
  queries.invalidateQueries({
    type: "active",
    refetchType: whoIsAsked(),
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

/** Whether the event stream is connected. Unknown before the first attempt and in a hidden tab. */
type Connection = "unknown" | "live" | "away"

let connection: Connection = "unknown"
const listeners = new Set<() => void>()

const setConnection = (next: Connection) => {
  connection = next
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

const useConnection = () => useSyncExternalStore(subscribe, () => connection)

/** Whether what is shown changes by itself. */
export const useIsLive = (): boolean => useConnection() === "live"

/** Whether the service cannot be reached. */
export const useIsAway = (): boolean => useConnection() === "away"

/** The SDK opens a stream that broke again, and does not tell. So each attempt is looked at here. */
const watched = async (url: string, init: RequestInit): Promise<Response> => {
  try {
    const answer = await fetch(url, init)
    // A proxy answers for a service that is away.
    setConnection(answer.ok ? "live" : answer.status >= 500 ? "away" : "unknown")
    return answer
  } catch (error) {
    if (init.signal?.aborted !== true) setConnection("away")
    throw error
  }
}

/** By workspace: the last event that was heard of it, or a moment before anything of it was read. */
const heard = new Map<WorkspaceId, string>()

/** To be called before anything of a workspace is read, as its stream begins later. */
export const hearFromNowOn = (workspaceId: WorkspaceId): void => {
  // What is neither an id nor a time gets a reset, so nothing is lost without a clock.
  if (!heard.has(workspaceId)) heard.set(workspaceId, passedMoment() ?? "unknown")
}

const isUnfinished = (status: string) => status === "queued" || status === "running"

const follow = async (workspaceId: WorkspaceId, signal: AbortSignal) => {
  const nouns = new Set<string>()
  const ended = new Set<string>()
  let isReset = false
  let timer: number | undefined
  let figuresTimer: number | undefined
  const gather = (event: LiveEvent) => {
    isReset ||= event.type === "reset"
    for (const noun of nounsOf(event)) nouns.add(noun)
    if (event.type === "execution" && !isUnfinished(event.status)) {
      ended.add(event.task_id)
      figuresTimer ??= window.setTimeout(() => {
        figuresTimer = undefined
        void askForFigures(workspaceId, new Set(ended))
        ended.clear()
      }, figuresMs)
    }
    timer ??= window.setTimeout(() => {
      timer = undefined
      void askAgain(workspaceId, isReset ? undefined : new Set(nouns))
      nouns.clear()
      isReset = false
    }, gatherMs)
  }
  const { events } = clientOf(workspaceId).withOptions({ fetch: watched })
  const lastEventId = heard.get(workspaceId)
  for await (const event of events.stream({ signal, lastEventId })) {
    heard.set(workspaceId, event.id)
    gather(event)
  }
}

/** Follows what changes in a workspace, while somebody looks. A hidden tab holds no connection. */
export const useLive = (workspaceId: WorkspaceId | undefined): void => {
  useEffect(() => {
    if (workspaceId === undefined) return
    let stop: AbortController | undefined
    let again: number | undefined
    const start = () => {
      window.clearTimeout(again)
      stop?.abort()
      stop = undefined
      if (connection === "live" || document.hidden) setConnection("unknown")
      if (document.hidden) return
      const own = new AbortController()
      stop = own
      follow(workspaceId, own.signal).catch((error: unknown) => {
        if (own.signal.aborted) return
        const isAway = error instanceof ConnectionError
        setConnection(isAway ? "away" : "unknown")
        again = window.setTimeout(start, isAway ? retryMs : restMs)
      })
    }
    start()
    document.addEventListener("visibilitychange", start)
    return () => {
      document.removeEventListener("visibilitychange", start)
      window.clearTimeout(again)
      stop?.abort()
      setConnection("unknown")
    }
  }, [workspaceId])
}
