import type { CronPreviewQuery, CronTask, TaskStatus, WorkspaceId } from "@scheduling/sdk"
import { keepPreviousData, queryOptions } from "@tanstack/react-query"
import { clientOf } from "../../data/client.ts"
import { isAnswer } from "../../data/queries.ts"
import { taskQueries } from "../taskQueries.ts"

export const cronQueries = taskQueries<CronTask, TaskStatus>("cron", ({ cron }) => cron)

export const previewOptions = (workspaceId: WorkspaceId, query: CronPreviewQuery) =>
  queryOptions({
    queryKey: [...cronQueries.all(workspaceId), "preview", query],
    enabled: query.schedule.trim() !== "",
    placeholderData: keepPreviousData,
    staleTime: 30_000,
    retry: (count, error) => count < 1 && !isAnswer(error),
    queryFn: ({ signal }) => clientOf(workspaceId).cron.preview(query, { signal })
  })
