// The page of index.html, and the service worker that takes the forms of servers that answer by one (Apple): a host of static
// files takes no forms, and so never sees what is in them. What comes is written into the page, which hands it to `authctl callback` of
// this machine, or shows it to be pasted; it is in no address that a browser would send to the host, or remember.
"use strict";

if (typeof document === "undefined") {
    self.addEventListener("install", () => self.skipWaiting());
    self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
    self.addEventListener("fetch", (event) => {
        const { request } = event;
        if (request.method === "POST" && request.mode === "navigate") event.respondWith(readBack(request));
    });
} else {
    window.addEventListener("load", show);
}

async function readBack(request) {
    // Percent-encoded: of what means something in HTML, only "&" is left.
    const answer = new URLSearchParams(await request.formData()).toString().replaceAll("&", "&amp;");
    const page = await (await fetch(self.registration.scope)).text();
    const headers = { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store" };
    return new Response(page.replace("<main>", () => `<main data-answer="${answer}">`), { headers });
}

// The desktop hands addresses of this scheme to `authctl callback`, once authctl has it do so. A person has to click: a browser that knows
// nobody for it may show an error in place of the page.
const HAND_ON = "io.authrefresh:";

async function show() {
    const here = location.origin + location.pathname;
    const brought = document.querySelector("main").dataset.answer ?? location.search.slice(1);
    // Some servers put all of it behind the "#", which no browser sends to a host.
    const address = here + (brought && `?${brought}`) + location.hash;
    if (address !== here) {
        // A bookmark of the page needs no answer.
        history.replaceState(null, "", here);
        tell("Back from the sign-in", "Hand this address to authctl, if it waits on this machine. Else copy it, and paste it where authctl asks for it:");
        document.getElementById("address").textContent = address;
        document.getElementById("open").href = HAND_ON + address;
        document.getElementById("answer").hidden = false;
        document.getElementById("copy").addEventListener("click", () => navigator.clipboard.writeText(address));
        return;
    }
    try {
        await navigator.serviceWorker.register("relay.js");
        await navigator.serviceWorker.ready;
        tell("Ready", "This browser can be sent back here from a sign-in now. Begin it: authctl login ACCOUNT --flow paste");
    } catch (error) {
        tell("This browser cannot be used", `It keeps no service worker for this page (${error.message}), and could take no form.`);
    }
}

function tell(title, text) {
    document.title = title;
    document.getElementById("title").textContent = title;
    document.getElementById("text").textContent = text;
}
