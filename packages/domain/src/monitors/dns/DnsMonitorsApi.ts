import { HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication } from "../../auth/Authentication.ts"
import { Check, CheckEventPage } from "../checks/Check.ts"
import { checkNowEndpoint } from "../checks/checkNowEndpoint.ts"
import { checkedMonitorDescriptions } from "../checks/checkFields.ts"
import { targetTestEndpoint } from "../checks/testEndpoint.ts"
import { monitorEndpoints } from "../monitorEndpoints.ts"
import {
  DnsMonitor,
  DnsMonitorDefinition,
  DnsMonitorInput,
  DnsMonitorPage,
  DnsMonitorUpdate
} from "./DnsMonitor.ts"

export class DnsMonitorsApi extends HttpApiGroup.make("dnsMonitors")
  .add(
    ...monitorEndpoints({
      kind: "dns",
      schemas: {
        monitor: DnsMonitor,
        input: DnsMonitorInput,
        definition: DnsMonitorDefinition,
        update: DnsMonitorUpdate,
        page: DnsMonitorPage,
        eventPage: CheckEventPage
      },
      texts: {
        create: "The records are looked up immediately, and then at regular intervals.",
        update: "Changes the given fields, and checks the target again.",
        ...checkedMonitorDescriptions
      },
      own: [
        checkNowEndpoint("dns", DnsMonitor),
        targetTestEndpoint("dns", { input: DnsMonitorInput, result: Check })
      ]
    })
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/monitors/dns")
  .annotateMerge(
    OpenApi.annotations({
      title: "DNS monitors",
      description:
        "Monitors of DNS records. A monitor queries a name server at regular intervals, and goes down when there is no answer or an unexpected one."
    })
  ) {}
