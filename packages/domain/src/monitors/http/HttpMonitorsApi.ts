import { HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication } from "../../auth/Authentication.ts"
import { Check, CheckEventPage } from "../checks/Check.ts"
import { checkNowEndpoint } from "../checks/checkNowEndpoint.ts"
import { checkedMonitorDescriptions } from "../checks/checkFields.ts"
import { targetTestEndpoint } from "../checks/testEndpoint.ts"
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
        create: "The URL is requested immediately, and then at regular intervals.",
        update: "Changes the given fields, and checks the target again.",
        ...checkedMonitorDescriptions
      },
      own: [
        checkNowEndpoint("http", HttpMonitor),
        targetTestEndpoint("http", { input: HttpMonitorInput, result: Check })
      ]
    })
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/monitors/http")
  .annotateMerge(
    OpenApi.annotations({
      title: "HTTP monitors",
      description:
        "Monitors of websites and APIs. A monitor requests a URL at regular intervals, and goes down when there is no response or the response breaks a rule."
    })
  ) {}
