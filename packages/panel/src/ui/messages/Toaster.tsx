import { CircleCheck, TriangleAlert, X } from "lucide-react"
import { IconButton } from "../actions/Button.tsx"
import { classes } from "../classes.ts"
import { ProblemText } from "./Problem.tsx"
import { dismissToast, toasts } from "./toast.ts"

export const Toaster = () => (
  <section
    aria-label="Messages"
    aria-live="polite"
    className="pointer-events-none fixed right-4 bottom-4 z-50 flex w-[min(24rem,calc(100vw-2rem))] flex-col gap-2"
  >
    {toasts.use().map(({ error, id, text }) => (
      <div
        key={id}
        className="pointer-events-auto flex items-start gap-3 rounded-lg border border-line bg-raised py-2.5 pr-2 pl-3.5 shadow-float appear"
      >
        <span
          className={classes("mt-1 [&_svg]:size-4", error === undefined ? "text-ok" : "text-bad")}
        >
          {error === undefined ? <CircleCheck /> : <TriangleAlert />}
        </span>
        <div className="min-w-0 grow py-0.5">
          {error === undefined ? (
            <p className="wrap-anywhere">{text}</p>
          ) : (
            <ProblemText error={error} />
          )}
        </div>
        <IconButton label="Dismiss" className="size-7" onClick={() => dismissToast(id)}>
          <X className="size-4" />
        </IconButton>
      </div>
    ))}
  </section>
)
