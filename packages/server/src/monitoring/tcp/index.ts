import { Layer } from "effect"
import { checkedTable } from "../checks/CheckedRow.ts"
import { ChecksRepo } from "../checks/ChecksRepo.ts"
import { TcpMonitorsHandlers } from "./http.ts"

export const tcpMonitors = {
  table: checkedTable("tcp"),
  layer: TcpMonitorsHandlers.pipe(Layer.provide(ChecksRepo.layer))
}
