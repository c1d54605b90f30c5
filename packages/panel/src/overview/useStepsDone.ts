import { useQueries } from "@tanstack/react-query"
import { clientOf, useWorkspace } from "../data/client.ts"

/** Which of the first steps were done: there is a task, a monitor, a key. Undefined until known. */
export const useStepsDone = () => {
  const { workspaceId } = useWorkspace()
  const api = clientOf(workspaceId)
  const asked = [
    ["cron", (signal: AbortSignal) => api.cron.list({ limit: 1 }, { signal })],
    ["monitors", (signal: AbortSignal) => api.monitors.list({ limit: 1 }, { signal })],
    ["api-keys", (signal: AbortSignal) => api.apiKeys.list({ limit: 1 }, { signal })]
  ] as const
  return useQueries({
    queries: asked.map(([noun, list]) => ({
      // Below the key of its noun, so that what makes one asks for it again.
      queryKey: ["w", workspaceId, noun, "any"],
      queryFn: async ({ signal }: { readonly signal: AbortSignal }) =>
        (await list(signal)).data.length > 0
    })),
    combine: ([task, monitor, key]) => ({
      task: task?.data,
      monitor: monitor?.data,
      key: key?.data
    })
  })
}
