import { HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication } from "../../auth/Authentication.ts"
import { Check, CheckEventPage } from "../checks/Check.ts"
import { checkNowEndpoint } from "../checks/checkNowEndpoint.ts"
import { checkedMonitorDescriptions } from "../checks/checkFields.ts"
import { targetTestEndpoint } from "../checks/testEndpoint.ts"
import { monitorEndpoints } from "../monitorEndpoints.ts"
import {
  TcpMonitor,
  TcpMonitorDefinition,
  TcpMonitorInput,
  TcpMonitorPage,
  TcpMonitorUpdate
} from "./TcpMonitor.ts"

export class TcpMonitorsApi extends HttpApiGroup.make("tcpMonitors")
  .add(
    ...monitorEndpoints({
      kind: "tcp",
      schemas: {
        monitor: TcpMonitor,
        input: TcpMonitorInput,
        definition: TcpMonitorDefinition,
        update: TcpMonitorUpdate,
        page: TcpMonitorPage,
        eventPage: CheckEventPage
      },
      texts: {
        create: "The service connects to the server immediately, and then at regular intervals.",
        update: "Changes the given fields, and checks the target again.",
        ...checkedMonitorDescriptions
      },
      own: [
        checkNowEndpoint("tcp", TcpMonitor),
        targetTestEndpoint("tcp", { input: TcpMonitorInput, result: Check })
      ]
    })
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/monitors/tcp")
  .annotateMerge(
    OpenApi.annotations({
      title: "TCP monitors",
      description:
        "Monitors of servers with any protocol. A monitor connects at regular intervals, and goes down when it cannot connect, or when the server does not send the expected text."
    })
  ) {}
