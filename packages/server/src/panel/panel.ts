import { Layer } from "effect"
import { pageRoutesLayer } from "./pageRoutes.ts"
import { oidcRoutesLayer } from "./oidcRoutes.ts"
import { passkeyRoutesLayer } from "./passkeyRoutes.ts"
import { PanelFiles } from "./PanelFiles.ts"
import { sessionRoutesLayer } from "./sessionRoutes.ts"

/** The pages and the login of the control panel, which gets its data from `/v1`. */
export const PanelLayer = Layer.mergeAll(
  pageRoutesLayer,
  sessionRoutesLayer,
  oidcRoutesLayer,
  passkeyRoutesLayer
).pipe(Layer.provide(PanelFiles.layer))
