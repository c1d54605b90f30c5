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
      noun: "a process monitor",
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
          "It is `new` until the agent of its worker reports. Rules are judged with every report.",
        get: "The monitor, and the latest report.",
        update: "Changes the fields that are given. They apply from the next report on.",
        pause: "Its processes are not watched until it is resumed.",
        resume: "It is `new` again until the next report.",
        events: "When it went down and up, newest first, kept for 30 days by default."
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
        "Processes on the machines of workers: how many run, and what memory and processor time they take."
    })
  ) {}
