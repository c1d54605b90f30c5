import type { LiveEvent, WorkspaceId } from "@scheduling/sdk"
import { useEffect, useSyncExternalStore } from "react"
import { clientOf } from "./client.ts"
import { queries } from "./queries.ts"

/** What is shown of a workspace is asked for again this long after something changed. */
const gatherMs = 400

/** After a refusal, such as too many streams. */
const restMs = 30_000

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

/** Without nouns: whatever is shown. */
const askAgain = (workspaceId: WorkspaceId, nouns: ReadonlySet<string> | undefined) =>
  queries.invalidateQueries({
    predicate: ({ queryKey: [scope, id, noun, what], state }) => {
      if (scope !== "w" || id !== workspaceId) return false
      // They cost more than a list, and look after themselves.
      if (what === "stats" && nouns !== undefined) return false
      if (nouns?.has(String(noun)) === false) return false
      const { pages } = (state.data ?? {}) as { readonly pages?: ReadonlyArray<unknown> }
      return (pages?.length ?? 0) <= maxPages
    }
  })

let isLive = false
const listeners = new Set<() => void>()

const setLive = (value: boolean) => {
  isLive = value
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Whether what is shown changes by itself. */
export const useIsLive = (): boolean => useSyncExternalStore(subscribe, () => isLive)

const follow = async (workspaceId: WorkspaceId, signal: AbortSignal) => {
  const nouns = new Set<string>()
  let isReset = false
  let timer: number | undefined
  const gather = (event: LiveEvent) => {
    isReset ||= event.type === "reset"
    for (const noun of nounsOf(event)) nouns.add(noun)
    timer ??= window.setTimeout(() => {
      timer = undefined
      void askAgain(workspaceId, isReset ? undefined : new Set(nouns))
      nouns.clear()
      isReset = false
    }, gatherMs)
  }
  setLive(true)
  for await (const event of clientOf(workspaceId).events.stream({ signal })) gather(event)
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
      setLive(false)
      if (document.hidden) return
      const own = new AbortController()
      stop = own
      follow(workspaceId, own.signal).catch(() => {
        if (own.signal.aborted) return
        setLive(false)
        again = window.setTimeout(start, restMs)
      })
    }
    start()
    document.addEventListener("visibilitychange", start)
    return () => {
      document.removeEventListener("visibilitychange", start)
      window.clearTimeout(again)
      stop?.abort()
      setLive(false)
    }
  }, [workspaceId])
}
