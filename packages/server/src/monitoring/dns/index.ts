import { Layer } from "effect"
import { checkedTable } from "../checks/CheckedRow.ts"
import { ChecksRepo } from "../checks/ChecksRepo.ts"
import { DnsMonitorsHandlers } from "./http.ts"

export const dnsMonitors = {
  table: checkedTable("dns"),
  layer: DnsMonitorsHandlers.pipe(Layer.provide(ChecksRepo.layer))
}
