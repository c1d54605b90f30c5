import { createRoute, redirect } from "@tanstack/react-router"
import { lastWorkspace } from "./app/lastWorkspace.ts"
import { lazyPage } from "./app/lazyPage.ts"
import { requireSession } from "./app/requireSession.ts"
import { usageSearch } from "./billing/search.ts"
import { queries, workspacesOptions } from "./data/queries.ts"
import { monitoringRoutes } from "./monitoringRoutes.tsx"
import { signedInRoute, root, workspace } from "./parentRoutes.tsx"
import { takeLinkToken } from "./sign-in/linkToken.ts"
import { taskRoutes } from "./taskRoutes.tsx"
import { textIn } from "./ui/lists/search.ts"
import { workspaceRoutes } from "./workspaceRoutes.tsx"

/** Accepts only a path within the panel, because `//evil.example` would lead to another site. */
const nextSearch = ({ next }: Record<string, unknown>): { readonly next?: string } =>
  typeof next === "string" && /^\/(?![/\\])/.test(next) ? { next } : {}

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  // The server adds the problem when somebody returns from the identity provider.
  validateSearch: (search): { readonly next?: string; readonly problem?: string } => {
    const problem = textIn(search["problem"])
    return { ...nextSearch(search), ...(problem !== undefined && { problem }) }
  },
  component: lazyPage(() => import("./sign-in/SignInPage.tsx"), "SignInPage")
})

const register = createRoute({
  getParentRoute: () => root,
  path: "/register",
  validateSearch: nextSearch,
  component: lazyPage(() => import("./sign-in/RegisterPage.tsx"), "RegisterPage")
})

const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: "/forgot-password",
  component: lazyPage(() => import("./sign-in/ForgotPasswordPage.tsx"), "ForgotPasswordPage")
})

const resetPassword = createRoute({
  getParentRoute: () => root,
  path: "/reset-password",
  component: lazyPage(() => import("./sign-in/ResetPasswordPage.tsx"), "ResetPasswordPage")
})

const invitation = createRoute({
  getParentRoute: () => root,
  path: "/invitation",
  beforeLoad: ({ location }) => {
    takeLinkToken()
    return requireSession(location)
  },
  component: lazyPage(() => import("./sign-in/InvitationPage.tsx"), "InvitationPage")
})

type HomeSearch = ReturnType<typeof usageSearch> & { readonly workspace?: string }

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  // The payment provider redirects users to this URL.
  validateSearch: (search): HomeSearch => {
    const named = textIn(search["workspace"])
    return { ...usageSearch(search), ...(named !== undefined && { workspace: named }) }
  },
  beforeLoad: async ({ location, search: { checkout, workspace: named } }) => {
    await requireSession(location)
    const workspaces = await queries.ensureQueryData(workspacesOptions)
    const wanted = named ?? lastWorkspace()
    const known = workspaces.find(({ id }) => id === wanted) ?? workspaces.at(-1)
    if (known === undefined) throw redirect({ to: "/welcome", replace: true })
    const params = { workspaceId: known.id }
    throw checkout === undefined
      ? redirect({ to: "/w/$workspaceId", params, replace: true })
      : redirect({ to: "/w/$workspaceId/usage", params, search: { checkout }, replace: true })
  }
})

const welcome = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/welcome",
  component: lazyPage(() => import("./app/WelcomePage.tsx"), "WelcomePage")
})

const account = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/account/settings",
  component: lazyPage(() => import("./account/AccountPage.tsx"), "AccountPage")
})

export const routeTree = root.addChildren([
  home,
  signIn,
  register,
  forgotPassword,
  resetPassword,
  invitation,
  signedInRoute.addChildren([
    welcome,
    account,
    workspace.addChildren([...taskRoutes, ...monitoringRoutes, ...workspaceRoutes])
  ])
])
