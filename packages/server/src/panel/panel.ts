import { Layer } from "effect"
import { pageRoutesLayer } from "./pageRoutes.ts"
import { PanelFiles } from "./PanelFiles.ts"
import { sessionRoutesLayer } from "./sessionRoutes.ts"

/** The control panel: its pages and its login. Its data comes from `/v1`. */
export const PanelLayer = Layer.merge(pageRoutesLayer, sessionRoutesLayer).pipe(
  Layer.provide(PanelFiles.layer)
)
