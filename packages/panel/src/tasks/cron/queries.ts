import type { CronPreviewQuery, CronTaskId, WorkspaceId } from "@scheduling/sdk"
import { keepPreviousData, queryOptions } from "@tanstack/react-query"
import { clientOf } from "../../data/client.ts"
import { isAnswer, listOptions, queries } from "../../data/queries.ts"
import type { CronSearch } from "./search.ts"

const all = (workspaceId: WorkspaceId) => ["w", workspaceId, "cron"] as const

export const cronListOptions = (workspaceId: WorkspaceId, search: CronSearch) =>
  listOptions([...all(workspaceId), "list", search], (cursor, signal) =>
    clientOf(workspaceId).cron.list({ ...search, cursor, limit: 100 }, { signal })
  )

export const cronOptions = (workspaceId: WorkspaceId, taskId: CronTaskId) =>
  queryOptions({
    queryKey: [...all(workspaceId), taskId],
    queryFn: ({ signal }) => clientOf(workspaceId).cron.get(taskId, { signal })
  })

export const previewOptions = (workspaceId: WorkspaceId, query: CronPreviewQuery) =>
  queryOptions({
    queryKey: [...all(workspaceId), "preview", query],
    enabled: query.schedule.trim() !== "",
    placeholderData: keepPreviousData,
    staleTime: 30_000,
    retry: (count, error) => count < 1 && !isAnswer(error),
    queryFn: ({ signal }) => clientOf(workspaceId).cron.preview(query, { signal })
  })

/** After a change: what is shown of cron tasks is asked for again. */
export const cronChanged = (workspaceId: WorkspaceId): Promise<void> =>
  queries.invalidateQueries({ queryKey: all(workspaceId) })
