import { HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication } from "../../auth/Authentication.ts"
import { CheckEventPage } from "../checks/Check.ts"
import { checkNow } from "../checks/checkNow.ts"
import { checkTexts } from "../checks/checkFields.ts"
import { monitorEndpoints } from "../monitorEndpoints.ts"
import {
  HttpMonitor,
  HttpMonitorDefinition,
  HttpMonitorInput,
  HttpMonitorPage,
  HttpMonitorUpdate
} from "./HttpMonitor.ts"

export class HttpMonitorsApi extends HttpApiGroup.make("httpMonitors")
  .add(
    ...monitorEndpoints({
      kind: "http",
      schemas: {
        monitor: HttpMonitor,
        input: HttpMonitorInput,
        definition: HttpMonitorDefinition,
        update: HttpMonitorUpdate,
        page: HttpMonitorPage,
        eventPage: CheckEventPage
      },
      texts: {
        create: "The URL is requested immediately, and then at an interval.",
        update: "Changes the given fields, and checks the target again.",
        ...checkTexts
      },
      own: [checkNow("http", HttpMonitor)]
    })
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/monitors/http")
  .annotateMerge(
    OpenApi.annotations({
      title: "HTTP monitors",
      description:
        "Monitors of web sites and APIs. A monitor requests a URL at an interval, and goes " +
        "down when the responses break one of its rules or are missing."
    })
  ) {}
