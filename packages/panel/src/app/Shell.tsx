import { useQuery } from "@tanstack/react-query"
import { Outlet, useNavigate, useParams } from "@tanstack/react-router"
import { Menu as MenuIcon, Search } from "lucide-react"
import { type ReactNode, useEffect, useEffectEvent, useState } from "react"
import { useOpenIncidentCount } from "../data/incidents.ts"
import { useLive } from "../data/live.ts"
import { queryClient, workspacesOptions } from "../data/queries.ts"
import { session } from "../data/session.ts"
import { IconButton } from "../ui/actions/Button.tsx"
import { Dialog } from "../ui/actions/Dialog.tsx"
import { UnreachableBanner } from "./UnreachableBanner.tsx"
import { lastWorkspace, rememberWorkspace } from "./lastWorkspace.ts"
import { loadCode } from "./lazyPage.ts"
import { Sidebar } from "./Sidebar.tsx"
import { StoppedWorkspaceBanner } from "./StoppedWorkspaceBanner.tsx"
import { TitlePrefix } from "../ui/layout/TitlePrefix.ts"
import { showErrorToast } from "../ui/messages/toast.ts"
import { RoleContext } from "../ui/role.tsx"
import { useMyRole } from "../data/role.ts"

const loadPalette = () => import("./Palette.tsx")
type PaletteComponent = Awaited<ReturnType<typeof loadPalette>>["default"]

const loadSignInAgain = () => import("../sign-in/SignInAgain.tsx")
type SignInAgainComponent = Awaited<ReturnType<typeof loadSignInAgain>>["default"]

export const Shell = () => {
  const { workspaceId } = useParams({ strict: false })
  const current = useCurrentWorkspace(workspaceId)
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [isPaletteOpen, setPaletteOpen] = useState(false)
  const signInAgain = useSignInAgain()
  // Nothing is fetched for a workspace that does not exist.
  const shownId = current?.id === workspaceId ? workspaceId : undefined
  useLive(shownId)
  useEffect(() => {
    if (shownId !== undefined) rememberWorkspace(shownId)
  }, [shownId])
  const Palette = usePalette(isPaletteOpen, () => setPaletteOpen(false))
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey)) return
      event.preventDefault()
      setPaletteOpen((isOpen) => !isOpen)
    }
    window.addEventListener("keydown", onKey)
    return () => window.removeEventListener("keydown", onKey)
  }, [])
  const sidebar = (
    <Sidebar
      workspaceId={current?.id}
      onSearch={() => setPaletteOpen(true)}
      onLeave={() => setMenuOpen(false)}
    />
  )
  return (
    <RoleContext value={useMyRole(current?.id)}>
      <TitlePrefix value={useOpenIncidentCount(shownId)}>
        <div className="lg:grid lg:grid-cols-[15rem_minmax(0,1fr)]">
          <a
            href="#main"
            className="fixed top-2 left-2 z-50 -translate-y-16 rounded-lg bg-ink px-3 py-2 text-canvas focus:translate-y-0"
          >
            Skip to content
          </a>
          <header className="sticky top-0 z-20 flex h-14 items-center justify-between border-b border-line bg-canvas/85 px-2 backdrop-blur-md lg:hidden">
            <IconButton label="Menu" onClick={() => setMenuOpen(true)}>
              <MenuIcon className="size-5" />
            </IconButton>
            <span className="min-w-0 truncate px-2 font-medium">{current?.name}</span>
            <IconButton label="Search" onClick={() => setPaletteOpen(true)}>
              <Search className="size-5" />
            </IconButton>
          </header>
          <div className="sticky top-0 hidden h-dvh border-r border-line lg:block">{sidebar}</div>
          <Dialog
            isOpen={isMenuOpen}
            onClose={() => setMenuOpen(false)}
            label="Navigation"
            place="side"
          >
            {sidebar}
          </Dialog>
          <main id="main" tabIndex={-1} className="min-w-0 outline-none">
            <UnreachableBanner />
            <StoppedWorkspaceBanner workspace={shownId === undefined ? undefined : current} />
            <Outlet />
          </main>
          {signInAgain}
          {isPaletteOpen && Palette !== undefined && (
            <Palette workspaceId={current?.id} onClose={() => setPaletteOpen(false)} />
          )}
        </div>
      </TitlePrefix>
    </RoleContext>
  )
}

/** Loads the palette's code when it is opened. Closes it if the code cannot be loaded. */
const usePalette = (isOpen: boolean, close: () => void): PaletteComponent | undefined => {
  const [Palette, setPalette] = useState<PaletteComponent>()
  const isMissing = Palette === undefined
  // Preload the code, so that the palette receives the first keystrokes. A failed load is retried
  // on opening.
  useEffect(() => {
    const timer = setTimeout(() => loadPalette().catch(() => undefined), 1_000)
    return () => clearTimeout(timer)
  }, [])
  const fail = useEffectEvent((error: unknown) => {
    close()
    showErrorToast(error)
  })
  useEffect(() => {
    if (!isOpen || !isMissing) return
    let isWanted = true
    loadCode(loadPalette).then(
      (module) => setPalette(() => module.default),
      (error: unknown) => isWanted && fail(error)
    )
    return () => {
      isWanted = false
    }
  }, [isOpen, isMissing])
  return Palette
}

/** Returns the current workspace. On account pages, this is the last visited workspace. */
const useCurrentWorkspace = (workspaceId: string | undefined) => {
  const { data: workspaces } = useQuery(workspacesOptions)
  const wanted = workspaceId ?? lastWorkspace()
  return workspaces?.find(({ id }) => id === wanted)
}

/**
 * Returns the dialog in which the user signs in again after the session has expired, without losing
 * the page. After signing out, the user is sent to the sign-in page instead.
 */
const useSignInAgain = (): ReactNode => {
  const navigate = useNavigate()
  const [SignInAgain, setSignInAgain] = useState<SignInAgainComponent>()
  const leave = useEffectEvent(() => {
    const next = location.pathname + location.search
    queryClient.clear()
    void navigate({ to: "/sign-in", search: { next }, replace: true, ignoreBlocker: true })
  })
  useEffect(() => {
    const stop = session.onEnd((why) => {
      if (why === "signed out") return leave()
      loadCode(loadSignInAgain).then((module) => setSignInAgain(() => module.default), leave)
    })
    const stopAgain = session.onOpenAgain(() => {
      setSignInAgain(undefined)
      void queryClient.invalidateQueries()
    })
    return () => {
      stop()
      stopAgain()
    }
  }, [])
  return SignInAgain && <SignInAgain onLeave={leave} />
}
