import { Layer } from "effect"
import { checkedTable } from "../checks/CheckedRow.ts"
import { ChecksRepo } from "../checks/ChecksRepo.ts"
import { HttpMonitorsHandlers } from "./http.ts"

export const httpMonitors = {
  table: checkedTable("http"),
  layer: HttpMonitorsHandlers.pipe(Layer.provide(ChecksRepo.layer))
}
