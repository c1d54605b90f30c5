import { HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication } from "../../auth/Authentication.ts"
import { monitorEndpoints } from "../monitorEndpoints.ts"
import { ProcessEventPage } from "./ProcessEvent.ts"
import {
  ProcessMonitor,
  ProcessMonitorDefinition,
  ProcessMonitorInput,
  ProcessMonitorPage,
  ProcessMonitorUpdate
} from "./ProcessMonitor.ts"

export class ProcessMonitorsApi extends HttpApiGroup.make("processMonitors")
  .add(
    ...monitorEndpoints({
      kind: "process",
      schemas: {
        monitor: ProcessMonitor,
        input: ProcessMonitorInput,
        definition: ProcessMonitorDefinition,
        update: ProcessMonitorUpdate,
        page: ProcessMonitorPage,
        eventPage: ProcessEventPage
      },
      texts: {
        create:
          "The monitor is `new` until the agent of its worker reports. Every report is checked against the rules.",
        get: "The monitor, with the latest report.",
        update: "Changes the given fields. They apply from the next report on.",
        pause: "The processes are not watched until the monitor is resumed.",
        resume: "The monitor is `new` again until the next report.",
        events:
          "When the monitor went down or recovered, newest first, kept for 30 days by default."
      },
      own: []
    })
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/monitors/process")
  .annotateMerge(
    OpenApi.annotations({
      title: "Process monitors",
      description:
        "Monitors of processes on the machines of workers: their number, memory and CPU usage."
    })
  ) {}
