import { mount } from "svelte";

import App from "./App.svelte";
import Footer from "./Footer.svelte";
import Serve from "./serve/Serve.svelte";
import "./page.css";
import { savedView } from "./serve/file";
import { embeddedDocuments, isServed } from "./source";

const target = window.document.getElementById("likenew");
if (!target) throw new Error("the page has no element with the id likenew");
const documents = embeddedDocuments();
if (isServed() || savedView) mount(Serve, { target });
else mount(App, { target, props: { documents } });
mount(Footer, { target, props: { version: documents[0]?.document.instrument.version } });
