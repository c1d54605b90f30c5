import type { CronTask } from "@scheduling/sdk"
import { executionsChanged } from "../../executions/queries.ts"
import { useWorkspace } from "../../data/client.ts"
import { tell, tellProblem } from "../../ui/messages/toast.ts"
import { cronChanged } from "./queries.ts"

type Named = Pick<CronTask, "id" | "name">

/** What can be done with a task from wherever it is shown. */
export const useCronActions = () => {
  const { api, workspaceId } = useWorkspace()
  const act = (work: (task: Named) => Promise<unknown>, done: string) => async (task: Named) => {
    try {
      await work(task)
      tell(`${task.name} ${done}`)
    } catch (error) {
      tellProblem(error)
    }
    await Promise.all([cronChanged(workspaceId), executionsChanged(workspaceId)])
  }
  return {
    run: act(({ id }) => api.cron.run(id), "was started"),
    pause: act(({ id }) => api.cron.pause(id), "is paused"),
    resume: act(({ id }) => api.cron.resume(id), "is active again"),
    /** Throws, because its dialog shows what went wrong. */
    remove: async (task: Named) => {
      await api.cron.remove(task.id)
      tell(`${task.name} was deleted`)
      await cronChanged(workspaceId)
    }
  }
}
