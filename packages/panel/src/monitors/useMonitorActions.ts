import type { Monitor } from "@scheduling/sdk"
import { useWorkspace } from "../data/client.ts"
import { incidentsChanged } from "../incidents/queries.ts"
import { attempt, tell } from "../ui/messages/toast.ts"
import { monitorsChanged } from "./queries.ts"

type Named = Pick<Monitor, "id" | "kind" | "name">

/** What can be done with a monitor from wherever it is shown. */
export const useMonitorActions = () => {
  const { api, workspaceId } = useWorkspace()
  const kinds = {
    heartbeat: api.heartbeatMonitors,
    ssl: api.sslMonitors,
    process: api.processMonitors
  }
  const of = ({ kind }: Named) => kinds[kind]
  const changed = () => Promise.all([monitorsChanged(workspaceId), incidentsChanged(workspaceId)])
  return {
    pause: async (monitor: Named) => {
      await attempt(() => of(monitor).pause(monitor.id), `${monitor.name} is paused`)
      await changed()
    },
    resume: async (monitor: Named) => {
      await attempt(() => of(monitor).resume(monitor.id), `${monitor.name} is watched again`)
      await changed()
    },
    /** Throws, because its dialog shows what went wrong. */
    remove: async (monitor: Named) => {
      await of(monitor).remove(monitor.id)
      tell(`${monitor.name} was deleted`)
      await changed()
    }
  }
}
