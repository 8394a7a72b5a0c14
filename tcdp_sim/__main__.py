from tcdp_sim.cli.main import main

if __name__ == "__main__":
    main()
