import { createRootRoute, createRoute, Outlet } from "@tanstack/react-router"
import { Shell } from "./app/Shell.tsx"
import { requireSession } from "./app/requireSession.ts"
import { requireWorkspace } from "./app/requireWorkspace.ts"

/** The parent of all routes. */
export const root = createRootRoute({ component: Outlet })

/** The parent of the pages that need a session. */
export const inside = createRoute({
  getParentRoute: () => root,
  id: "inside",
  beforeLoad: ({ location }) => requireSession(location),
  component: Shell
})

/** The parent of the pages of a workspace. */
export const workspace = createRoute({
  getParentRoute: () => inside,
  path: "/w/$workspaceId",
  beforeLoad: ({ params: { workspaceId } }) => requireWorkspace(workspaceId)
})
